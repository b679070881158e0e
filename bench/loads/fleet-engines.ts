/** What servers tell of a fleet: the requests of its processes, their connections, and what memory the server has. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEtcd } from '../../test/kit/etcd.ts';
import { exchange } from '../../test/kit/net.ts';
import { startPostgres } from '../../test/kit/postgres.ts';
import { askRedis, startRedis } from '../../test/kit/redis.ts';
import type { Server } from '../../test/kit/server.ts';
import { serverTime } from '../cores.ts';

export interface FleetEngine {
  start(processes: number): Promise<Server>;
  /** What clients have sent since the server was started. */
  requests(server: Server): Promise<number>;
  /** Ends the connections of all clients. */
  cut(server: Server): Promise<unknown>;
}

const sumOf = (text: string, counts: RegExp): number =>
  [...text.matchAll(counts)].reduce((sum, [, count]) => sum + Number(count), 0);

async function asked(url: string, text: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return [await client.query(text)].flat().at(-1)!.rows[0].n;
  } finally {
    await client.end();
  }
}

const MAKE_COUNTER = 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements';
const COUNT = 'SELECT sum(calls)::int AS n FROM pg_stat_statements';
const CUT = `SELECT count(pg_terminate_backend(pid))::int AS n FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

export const ENGINES: Readonly<Record<string, FleetEngine>> = {
  redis: {
    start: (processes) => startRedis({ maxclients: `${2 * processes + 100}` }),
    // Without those of scripts: what each of them does inside is no message.
    requests: async ({ port }) =>
      sumOf(await askRedis(port, 'INFO commandstats'), /^cmdstat_(?:evalsha|eval|subscribe|ping):calls=(\d+)/gm),
    async cut({ port }) {
      for (const type of ['pubsub', 'normal']) await askRedis(port, `CLIENT KILL TYPE ${type}`);
    },
  },
  postgres: {
    start: (processes) =>
      startPostgres({
        max_connections: `${2 * processes + 50}`,
        shared_preload_libraries: 'pg_stat_statements',
        fsync: 'off',
      }),
    requests: ({ url }) => asked(url, `${MAKE_COUNTER}; ${COUNT}`),
    cut: ({ url }) => asked(url, CUT),
  },
  etcd: {
    start: () => startEtcd(),
    requests: async ({ port }) =>
      sumOf(await exchange(port, 'GET /metrics HTTP/1.0\r\n\r\n'), /^grpc_server_msg_received_total\{.*\} (\d+)/gm),
    async cut(server) {
      await server.stop();
      await server.restart();
    },
  },
};

/** A file of the kernel about a process; empty if it has ended in the meantime. */
function told(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

const parentOf = (pid: string): number =>
  Number(
    told(pid, 'stat')
      .replace(/^.*\) /, '')
      .split(' ')[1],
  );

/** A server and the processes that it has started. */
const processesOf = ({ pid }: Server): number[] => [
  pid,
  ...readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number),
];

/** MB that it has for itself, and its part of what its processes share. */
export function memoryOf(server: Server): number {
  const shares = processesOf(server).map((pid) => Number(/^Pss: +(\d+)/m.exec(told(pid, 'smaps_rollup'))?.[1] ?? 0));
  return shares.reduce((sum, kilobytes) => sum + kilobytes, 0) / 1_000;
}

/** Processor time that it takes while `ms` pass, µs; of the processes that it has all the time. */
export async function timeTaken(server: Server, ms: number): Promise<number> {
  const before = processesOf(server).map((pid) => [pid, serverTime([pid])] as const);
  await sleep(ms);
  return before.reduce((sum, [pid, time]) => sum + (serverTime([pid]) - time || 0), 0);
}

/** Connections that clients have to it. */
export function connectionsTo({ port }: Server): number {
  const place = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const open = (line: string): boolean => {
    const [, local, , state] = line.trim().split(/\s+/);
    return state === '01' && local!.endsWith(place);
  };
  return readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1, -1).filter(open).length;
}
