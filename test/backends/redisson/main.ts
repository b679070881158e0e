/** Java and Node.js on one lock of Redisson: `npm run prove -- peers:redisson --help`. */
import { flagsOf } from '../../kit/flags.ts';
import { JavaPeer } from '../../kit/java.ts';
import { startRedis } from '../../kit/redis.ts';
import { whyNot } from '../../kit/selection.ts';
import { jarsOfRedisson, PEER, VERSIONS } from './peer.ts';
import { isOneOrder, raceOf, type Served } from './race.ts';

const USAGE = `npm run prove -- peers:redisson [version…] [flags]: Java with Redisson and Node.js race for one RFencedLock, then for one RFairLock
  --race 60  seconds of each
  --each 4   processes of each
  --help     this
Another server is the referee. Wrong are two inside at once, a token that is not above the one before it, and a process that got nothing.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    race: { type: 'string', default: '60' },
    each: { type: 'string', default: '4' },
  },
  allowPositionals: true,
});
const each = Number(values.each);

const absent = whyNot(['redisson', 'maven'], ['redisson']);
if (absent !== undefined) console.error(`!! NOT RUN: ${absent}`);
console.log(
  '| Redisson | lock | sections of Java | of Node.js | the fewest, the most of one | longest wait | overlaps | one order of tokens |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
for (const version of absent === undefined ? VERSIONS : []) {
  if (positionals.length > 0 && !positionals.includes(version)) continue;
  const jars = await jarsOfRedisson(version);
  if (!jars) continue;
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRedis());
  const start = async () => stack.use(await JavaPeer.start(PEER, jars, server.url, '2000'));
  const peers = await Promise.all(Array.from({ length: each }, start));
  for (const kind of ['fenced', 'fair'] as const) {
    const { java, node, overlaps, tokens } = await raceOf(peers, each, server.url, Number(values.race) * 1_000, kind);
    const sum = (all: readonly Served[]): number => all.reduce((total, { sections }) => total + sections, 0);
    const sections = [...java, ...node].map((served) => served.sections);
    const longest = Math.max(...[...java, ...node].map((served) => served.longest));
    const ordered =
      kind === 'fair' ? '–' : isOneOrder(tokens) && tokens.length === sum(java) + sum(node) ? 'yes' : 'no';
    const range = `${Math.min(...sections)}, ${Math.max(...sections)}`;
    console.log(
      `| ${version} | ${kind} | ${sum(java)} | ${sum(node)} | ${range} | ${longest} ms | ${overlaps} | ${ordered} |`,
    );
    if (overlaps > 0 || ordered === 'no' || Math.min(...sections) === 0) process.exitCode = 1;
  }
}
