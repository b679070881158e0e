/** Everything that shows whether the promises are kept: `npm run prove -- --help`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOfSources, uncommittedSources } from '../../scripts/sources.mjs';
import { flagsOf } from '../kit/flags.ts';
import { durationOf } from './duration.ts';
import { essence, evidence } from './evidence.ts';
import { parts } from './parts.ts';
import { PROOFS } from './proofs.ts';
import type { Result } from './result.ts';

const root = join(import.meta.dirname, '..', '..');

const [, , first = '', ...rest] = process.argv;
if (Object.hasOwn(PROOFS, first)) {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning'] as const;
  const alone = spawn(node[0], [node[1], join(root, PROOFS[first]!), ...rest], { cwd: root, stdio: 'inherit' });
  process.exit(((await once(alone, 'exit')) as [number | null])[0] ?? 1);
}

const USAGE = `npm run prove -- [flags]: everything that shows whether the promises are kept, and docs/evidence.md from what came of it
npm run prove -- <proof> [flags of it]: one of them by itself: ${Object.keys(PROOFS).join(', ')}
  --for 2h        how long in all
  --only <part>   this part; may be given several times
  --anew          forgets what came of the rounds before
  --help          this
What came of each round is kept in .results/prove, which git ignores, and the next round adds to it, from other seeds. One that was ended in the middle goes
on with the parts it had not run. Each state of src and products has rounds of its own: the page never adds up what ran on two of them.
All that a part printed is in .tmp/prove until it runs again.`;

const { values } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '2h' },
    only: { type: 'string', multiple: true },
    anew: { type: 'boolean', default: false },
  },
});
const changed = uncommittedSources();
if (changed !== '') {
  console.error(`Commit these first, since the page names the sources that ran:\n${changed}`);
  process.exit(1);
}
const sources = nameOfSources();
const folder = join(root, '.results', 'prove', sources);
if (values.anew) rmSync(folder, { recursive: true, force: true });
const prints = join(root, '.tmp', 'prove');
for (const each of [folder, prints]) mkdirSync(each, { recursive: true });
const total = durationOf(values.for);

const nameOf = (part: string): string => part.replaceAll(/\W+/g, '-');
const fileOf = (part: string): string => join(folder, `${nameOf(part)}.json`);
const known = (part: string): readonly Result[] =>
  existsSync(fileOf(part)) ? (JSON.parse(readFileSync(fileOf(part), 'utf8')) as Result[]) : [];

async function run(part: string, args: readonly string[]): Promise<Result> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd: root });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      printed += data;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  writeFileSync(join(prints, `${nameOf(part)}.txt`), printed);
  const all = printed.split('\n');
  const lines = all.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as unknown);
  const rest = all
    .filter((line) => !line.startsWith('{'))
    .slice(-12)
    .join('\n');
  const seconds = Math.round((performance.now() - began) / 1_000);
  return { part, sources, date: new Date().toISOString(), seconds, code, lines, printed: rest };
}

const names = parts(1).map(({ name }) => name);
const wanted = names.filter((name) => values.only?.some((part) => name.includes(part)) ?? true);
const rounds = wanted.map((name) => known(name).length);
const round = Math.min(...rounds) + 1;
for (const { name, share, least = 5, args } of parts(round)) {
  if (!wanted.includes(name)) continue;
  const before = known(name);
  if (before.length >= round) {
    console.log(`${name}: done before, in round ${round}`);
    continue;
  }
  const result = await run(name, args(Math.max(least, Math.round(total * share))));
  const kept = [...before, essence(result)].map((each) => JSON.stringify(each)).join(',\n');
  writeFileSync(fileOf(name), `[\n${kept}\n]\n`);
  console.log(`${name}: ${result.code === 0 ? 'right' : `ended with ${result.code}`}, ${result.seconds} s`);
  if (result.code !== 0 && name !== 'peers') process.exitCode = 1;
}
const results = names.map((name) => [name, known(name)] as const);
const docs = join(root, 'docs');
const before = (path: string): string => (existsSync(join(docs, path)) ? readFileSync(join(docs, path), 'utf8') : '');
for (const [path, text] of evidence(results, before)) writeFileSync(join(docs, path), text);
