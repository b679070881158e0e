/** Other programs on one lock with plain Redis, in a table: `npm run prove -- peers --help`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { flagsOf } from '../../../kit/flags.ts';
import { startRedis, startRedisNodes } from '../../../kit/redis.ts';
import { whyNot } from '../../../kit/selection.ts';
import { LAWS } from './laws.ts';
import { rowOf } from './matrix.ts';
import { PEERS } from './peers.ts';
import { HEAD, lineOf, pageOf } from './table.ts';

const USAGE = `npm run prove -- peers [name…] [flags]: other programs, of their registries, on one lock with plainRedis(), in a table
  --race 10    seconds of the race
  --racers 2   processes of each in the race, and as many of ours; at least 2
  --rounds 15  hand-overs in each direction
  --page       writes the rows into docs/evidence/peers.md, in the place of older ones
  --help       this
A peer whose language or registry is not there is left out, loudly.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    race: { type: 'string', default: '10' },
    racers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '15' },
    page: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const PAGE = join(import.meta.dirname, '../../../../docs/evidence/peers.md');
const scale = { rounds: Number(values.rounds), race: Number(values.race) * 1_000, racers: Number(values.racers) };
await using nodes = await startRedisNodes(3);
await using referee = await startRedis();
const ports = nodes.servers.map(({ port }) => port);
const lines: string[] = [];
console.log(HEAD);
for (const peer of PEERS) {
  if (positionals.length > 0 && !positionals.some((name) => peer.title.includes(name))) continue;
  const absent = whyNot(peer.needs, []);
  if (absent !== undefined) console.error(`!! NOT RUN: ${peer.title}: ${absent}`);
  const failed = (error: unknown): void => {
    console.error(`!! FAILED: ${peer.title}:`, error);
    process.exitCode = 1;
  };
  const row = absent === undefined ? await rowOf(peer, ports, referee.port, scale).catch(failed) : undefined;
  if (!row) continue;
  lines.push(lineOf(peer, row));
  console.log(lines.at(-1));
  for (const [law, check] of LAWS) {
    try {
      check(row, peer);
    } catch (error) {
      failed(new Error(`broken law: ${law}`, { cause: error }));
    }
  }
}
if (values.page) {
  const before = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const client = new Redis(ports[0]!);
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1];
  client.disconnect();
  const ranOn = `${new Date().toISOString().slice(0, 10)}, Redis ${version}, ${cpus().length} cores`;
  writeFileSync(PAGE, pageOf(before, lines, PEERS, ranOn));
}
