/** Everything that shows whether the promises are kept: `npm run prove -- --help`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nameOfLock, nameOfSources, uncommittedSources } from '../../scripts/code-name.mjs';
import { atExit } from '../kit/cleanup.ts';
import { flagsOf } from '../kit/flags.ts';
import { durationOf } from './duration.ts';
import { essence, evidence } from './evidence.ts';
import { parts } from './parts.ts';
import { PROOFS } from './proofs.ts';
import { type Result, restOf, wholeRounds } from './result.ts';
import { turnOfProof } from './turn.ts';

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
What came of a round is added to the pages, if they are of the same code; else it takes their place. So the next round, also in another
checkout, adds to what the pages say. Its seeds are other ones. A round that was ended in the middle goes on where it was: the lines that a part had printed are
kept in .results/prove, which git ignores, and the part gets the rest of its time, with other seeds.
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
const all = parts(1);
const names = all.map(({ name }) => name);
const wanted = names.filter((name) => values.only?.some((part) => name.includes(part)) ?? true);
if (wanted.length === 0) {
  console.error(`No part has ${values.only?.join(' or ')} in its name; the parts are: ${names.join(', ')}`);
  process.exit(1);
}
const place = join(tmpdir(), 'holdfast-prove.db');
await using turn = await turnOfProof(place);
if (!turn) {
  console.error(
    `Another run of proof is under way on this machine, and two at once starve each other: wait for its end (its lock is 'proof' in ${place})`,
  );
  process.exit(1);
}
const sources = { lock: nameOfLock(), all: nameOfSources() };
const folderOf = (name: string): string => join(root, '.results', 'prove', name);
const folders = Object.values(sources).map(folderOf);
if (values.anew) for (const each of folders) rmSync(each, { recursive: true, force: true });
const prints = join(root, '.tmp', 'prove');
for (const each of [...folders, prints]) mkdirSync(each, { recursive: true });
const total = durationOf(values.for);

/** Minutes since 2026: another checkout has other seeds, though it does not know those of this one. */
const MINUTE = Math.floor((Date.now() - Date.UTC(2026, 0)) / 60_000);
const nameOf = (part: string): string => part.replaceAll(/\W+/g, '-');
const runsOf = (part: string): 'lock' | 'all' => all.find(({ name }) => name === part)!.runs;
const fileOf = (part: string): string => join(folderOf(sources[runsOf(part)]), `${nameOf(part)}.json`);
const known = (part: string): readonly Result[] =>
  existsSync(fileOf(part)) ? (JSON.parse(readFileSync(fileOf(part), 'utf8')) as Result[]) : [];

function save(part: string, results: readonly Result[]): void {
  writeFileSync(`${fileOf(part)}.new`, `[\n${results.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
  renameSync(`${fileOf(part)}.new`, fileOf(part));
}

/** @param keep is called with each line that the part prints */
async function run(part: string, args: readonly string[], keep: (so: Result) => void): Promise<Result> {
  const began = performance.now();
  const date = new Date().toISOString();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd: root });
  const print = join(prints, `${nameOf(part)}.txt`);
  writeFileSync(print, '');
  const lines: unknown[] = [];
  const rest: string[] = [];
  const result = (code: number | null): Result => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    return { part, sources: sources[runsOf(part)], date, seconds, code, lines, printed: rest.slice(-12).join('\n') };
  };
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      appendFileSync(print, `${line}\n`);
      if (!line.startsWith('{')) rest.push(line);
      else if (lines.push(JSON.parse(line))) keep({ ...result(null), interrupted: true });
    });
  const forget = atExit(() => child.kill());
  const [code] = (await once(child, 'close')) as [number | null];
  forget();
  return result(code);
}

const round = Math.min(...wanted.map((name) => wholeRounds(known(name)))) + 1;
for (const name of wanted) {
  const before = known(name);
  const rest = restOf(before, round);
  if (!rest) {
    console.log(`${name}: done before, in round ${round}`);
    continue;
  }
  const { share, least = 5, args } = parts(MINUTE + rest.seeds).find((part) => part.name === name)!;
  const keep = (so: Result): void => save(name, [...before, essence(so)]);
  const result = await run(name, args(Math.max(least, Math.round(total * share - rest.spent))), keep);
  keep(result);
  console.log(`${name}: ${result.code === 0 ? 'right' : `ended with ${result.code}`}, ${result.seconds} s`);
  if (result.code !== 0 && name !== 'peers') process.exitCode = 1;
}
const results = names.map((name) => [name, known(name)] as const);
const docs = join(root, 'docs');
/** What a page says of these sources: in a row, or of all its rows. */
const ofSources = new RegExp(` (?:${sources.lock}|${sources.all})(?: \\||: )`);
const before = (path: string): string => {
  const text = existsSync(join(docs, path)) ? readFileSync(join(docs, path), 'utf8') : '';
  return values.anew ? text.replaceAll(/.*\n?/g, (line) => (ofSources.test(line) ? '' : line)) : text;
};
for (const [path, text] of evidence(results, before)) writeFileSync(join(docs, path), text);
for (const [name, rounds] of results)
  if (rounds.length > 0)
    save(
      name,
      rounds.map((each) => ({ ...each, onPage: true })),
    );
