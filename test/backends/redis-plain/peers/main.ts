/** Other programs on one lock with plain Redis, in a table: `npm run prove -- peers --help`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagsOf } from '../../../kit/flags.ts';
import { startRedis, startRedisNodes } from '../../../kit/redis.ts';
import { whyNot } from '../../../kit/selection.ts';
import { rowOf } from './matrix.ts';
import { PEERS } from './peers.ts';
import { HEAD, lineOf } from './table.ts';

const USAGE = `npm run prove -- peers [name…] [flags]: other programs, of their registries, on one lock with plainRedis(), in a table
  --race 10    seconds for which two processes of each and two of ours race
  --rounds 15  hand-overs in each direction
  --page       writes the table into docs/backends/redis-plain.md
  --help       this
A peer whose language or registry is not there is left out, loudly.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    race: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '15' },
    page: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const PAGE = join(import.meta.dirname, '../../../../docs/backends/redis-plain.md');
const scale = { rounds: Number(values.rounds), race: Number(values.race) * 1_000 };
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
  if (row.overlaps > 0) process.exitCode = 1;
}
if (values.page) {
  const page = readFileSync(PAGE, 'utf8');
  const begin = page.indexOf(HEAD);
  if (begin < 0) throw new Error(`${PAGE} has no table with this head:\n${HEAD}`);
  writeFileSync(
    PAGE,
    `${page.slice(0, begin)}${[HEAD, ...lines].join('\n')}${page.slice(page.indexOf('\n\n', begin))}`,
  );
}
