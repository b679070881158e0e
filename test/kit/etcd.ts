import { exchange, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';

/** Flags of etcd without the dashes. */
export type EtcdSettings = Readonly<Record<string, string>>;

async function plans(members: number, settings: EtcdSettings): Promise<ServerPlan[]> {
  const clients = await freePorts(members);
  const peers = (await freePorts(members)).map((port) => `http://${HOST}:${port}`);
  return clients.map((port, index) => {
    const client = `http://${HOST}:${port}`;
    const flags: EtcdSettings = {
      name: `n${index}`,
      'log-level': 'warn',
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peers[index]!,
      'initial-advertise-peer-urls': peers[index]!,
      'initial-cluster': peers.map((peer, member) => `n${member}=${peer}`).join(','),
      'initial-cluster-state': 'new',
      'heartbeat-interval': '50',
      // Also the least lease: 1.5 times this, in whole seconds.
      'election-timeout': '500',
      ...settings,
    };
    return {
      name: 'etcd',
      port,
      url: `etcd://${HOST}:${port}`,
      command: program('etcd', 'etcd'),
      args: (data) => ['--data-dir', data, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])],
      ready: async () => /"health":"?true/.test(await exchange(port, 'GET /health HTTP/1.0\r\n\r\n')),
    };
  });
}

export async function startEtcd(settings: EtcdSettings = {}): Promise<Server> {
  return Server.start((await plans(1, settings))[0]!);
}

/** Members of one cluster. */
export async function startEtcdMembers(count = 3, settings: EtcdSettings = {}): Promise<Servers> {
  return Servers.start('etcd', await plans(count, settings));
}
