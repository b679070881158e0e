import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { program } from '../../kit/programs.ts';

const run = promisify(execFile);

/** Anything with servers on ports: one, or a cluster. */
export interface Ports {
  readonly port: number;
}

export const endpoint = ({ port }: Ports): string => `127.0.0.1:${port}`;

/** The tool that comes with etcd, as an operator would use it. */
export async function etcdctl(servers: readonly Ports[], ...args: string[]): Promise<string> {
  const { stdout } = await run(program('etcd', 'etcdctl'), ['--endpoints', servers.map(endpoint).join(','), ...args], {
    env: { ...process.env, ETCDCTL_API: '3' },
  });
  return stdout;
}

/** Names of all keys, ours and others'. */
export async function keys(servers: readonly Ports[]): Promise<string[]> {
  return (await etcdctl(servers, 'get', '', '--prefix', '--keys-only')).split('\n').filter(Boolean);
}

/** Ids of all leases. */
export async function leases(servers: readonly Ports[]): Promise<string[]> {
  return (await etcdctl(servers, 'lease', 'list')).split('\n').filter((line) => /^[0-9a-f]{8,}$/.test(line));
}

/** A claim as core would make it. */
export const claimOf = (key: string, wish: Partial<Claim> = {}): Claim => ({
  key,
  id: systemClock.id(),
  ...EXCLUSIVE,
  ttl: 50_000,
  queue: true,
  tokenCount: 1,
  within: 5_000,
  label: '',
  ...wish,
});
