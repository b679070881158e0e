import { askRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { until } from '../../kit/wait.ts';

/** The server that replicates this one. */
export async function replicaOf({ port }: Server, servers: readonly Server[]): Promise<Server> {
  const state = await askRedis(port, 'INFO replication');
  return servers.find((server) => state.includes(`slave0:ip=127.0.0.1,port=${server.port}`))!;
}

/** A replica becomes the primary, and its primary a replica, while both are well. */
export async function takeOver({ port }: Server): Promise<void> {
  await askRedis(port, 'CLUSTER FAILOVER');
  await until(`${port} is the primary`, async () => (await askRedis(port, 'ROLE')).includes('master'));
}
