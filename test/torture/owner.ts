/**
 * `npm run torture:owner [-- part of a name…] [--for 60] [--seed 1] [--json]`: torture, while its server is stopped, killed and started
 * again, which only its owner can do. Each line says which promise of docs/promises.md is looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { torture } from '../../src/torture/torture.ts';
import { startEtcd, startEtcdMembers } from '../kit/etcd.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { startZookeeper } from '../kit/zookeeper.ts';

interface Owned {
  readonly name: string;
  readonly promise: string;
  /** Servers that stand together; one of them is hurt at a time. */
  start(): Promise<{ readonly url: string; readonly servers: readonly Server[] } & AsyncDisposable>;
}

const one = async (starting: Promise<Server>, query = '') => {
  const server = await starting;
  return {
    url: server.url + query,
    servers: [server],
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
};
const KEEPS = { appendonly: 'yes', appendfsync: 'always' };
const CRASH = 'survives a crash of the server';
const MINORITY = 'survives the loss of a minority';

const OWNED: readonly Owned[] = [
  { name: 'redis, append-only file, always synced', promise: CRASH, start: () => one(startRedis(KEEPS)) },
  { name: 'redlock over 5, one at a time', promise: MINORITY, start: () => startRedisNodes(5, KEEPS) },
  { name: 'postgres', promise: CRASH, start: () => one(startPostgres()) },
  { name: 'mysql (MariaDB)', promise: CRASH, start: () => one(startMariadb()) },
  { name: 'etcd, one member', promise: CRASH, start: () => one(startEtcd()) },
  { name: 'etcd over 3, one at a time', promise: MINORITY, start: () => startEtcdMembers(3) },
  { name: 'zookeeper, one server', promise: CRASH, start: () => one(startZookeeper(), '?sessionTimeout=4s') },
];

/** ms: beyond the lease of 2 s in half of the cases; and of peace, in which sessions come back. */
const [SHORT, LONG, PEACE] = [1_000, 4_000, 6_000];

/** Stops one, kills another, with its data, until the end. */
async function hurt(servers: readonly Server[], counts: Record<string, number>, signal: AbortSignal): Promise<void> {
  const pass = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});
  await pass(PEACE);
  for (let turn = 0; !signal.aborted; turn++) {
    const server = servers[turn % servers.length]!;
    const lasts = turn % 4 < 2 ? SHORT : LONG;
    const kind = turn % 2 === 0 ? 'server stopped' : 'server killed, back with its data';
    if (turn % 2 === 0) {
      server.pause();
      await pass(lasts);
      server.resume();
    } else {
      await server.kill();
      await pass(lasts);
      await server.restart();
    }
    counts[kind] = (counts[kind] ?? 0) + 1;
    await pass(PEACE);
  }
}

const { values, positionals } = parseArgs({
  options: {
    for: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
for (const { name, promise, start } of OWNED) {
  if (positionals.length > 0 && !positionals.some((part) => name.includes(part))) continue;
  await using owned = await start();
  const duration = Number(values.for) * 1_000;
  const over = new AbortController();
  // At peace again before it ends: what is left is looked at then.
  const until = AbortSignal.any([over.signal, AbortSignal.timeout(Math.max(1, duration - PEACE))]);
  const counts: Record<string, number> = {};
  const hurting = hurt(owned.servers, counts, until);
  const plan = { url: owned.url, duration, seed: Number(values.seed), processes: 4 };
  let verdict: Awaited<ReturnType<typeof torture>>;
  try {
    verdict = await torture({ ...plan, busy: 4 });
  } finally {
    over.abort();
    await hurting;
  }
  const { totals, faults, broken, violations, ran } = verdict;
  // What was not done to the server shows nothing about it.
  const outcome = verdict.outcome === 'kept' && Object.keys(counts).length < 2 ? 'nothing' : verdict.outcome;
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  if (values.json) console.log(JSON.stringify({ name, promise, outcome, ran, totals, faults, counts, broken }));
  else {
    const done = Object.entries(counts).map(([kind, times]) => `${kind} ${times}`);
    console.log(
      `${outcome.padEnd(8)} ${name}: ${promise}. ${totals.holds} holds, ${effective} faults; ${done.join(', ')}`,
    );
    for (const { message } of violations.slice(0, 5)) console.log(`    ${message}`);
  }
  if (outcome === 'broken') process.exitCode = 1;
}
