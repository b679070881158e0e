/** Every place of the sources changed, one at a time, and whether a test notices: `npm run prove -- mutants --help`. */
import { flagsOf } from '../kit/flags.ts';
import { durationOf } from '../prove/duration.ts';
import { isEquivalent } from './equivalent.ts';
import type { Lane } from './lane.ts';
import type { Mutant } from './mutant.ts';
import { Results } from './results.ts';
import { sample } from './sample.ts';
import { ScriptsLane } from './scripts-lane.ts';
import { ENGINES, root, SOURCES } from './sources.ts';
import { SourcesLane } from './sources-lane.ts';
import { printed, type Row, rows, sampledLine } from './table.ts';

const USAGE = `npm run prove -- mutants [flags]: every place of the sources changed, one at a time, and the tests that come by it
  --for 30m         how long in all
  --lane sources    or an engine whose scripts are meant; may be given several times
  --only <part>     only files with this in their path; may be given several times
  --again           once more what survived, and by more of the tests that come by it: after one was written
  --tests <file>    only these of the sources' tests are asked, and only what they kill is kept: soon known of tests that were just written
  --files           a line for each file instead of each folder
  --survivors       names each that survived
  --sample 200      so many of each lane, picked at random, the same ones for the same --seed
  --seed 1
  --slots 2         so many at a time
  --json            lines of JSON
  --help            this
It goes on where it was ended: a verdict holds as long as the declaration around its mutant is the same but for its names and comments.`;

const { values } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '30m' },
    /** `sources`, or an engine whose scripts are meant. */
    lane: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    /** Once more what survived, and by more of the tests that come by it: after one was written, or a first look. */
    again: { type: 'boolean', default: false },
    /** Only these of the sources' tests are asked, and only what they kill is kept: soon known of tests that were just written. */
    tests: { type: 'string', multiple: true },
    files: { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    /** So many of each lane, picked at random, the same ones for the same seed. */
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    slots: { type: 'string', default: '2' },
  },
});

const began = performance.now();
const end = began + durationOf(values.for) * 1_000;
const say = (text: string): void => void (values.json || process.stdout.write(text));
const wanted = ({ file }: Mutant): boolean => !values.only || values.only.some((part) => file.includes(part));
const sampled = (mutants: readonly Mutant[]): readonly Mutant[] =>
  values.sample ? sample(mutants, Number(values.sample), values.seed) : mutants;
const table: Row[] = [];
/** Of each sample. */
const lines: string[] = [];
let done = 0;

async function run(lane: Lane, left: Mutant[], results: Results): Promise<void> {
  const slots = Number(values.slots);
  const still = new Set(lane.mutants.map(({ id }) => id));
  say(`${lane.name}: ${left.length} mutants to run\n`);
  for (const test of await lane.prepare(slots)) say(`left out: ${test}\n`);
  const slot = async (_: unknown, number: number): Promise<void> => {
    for (let mutant = left.shift(); mutant && performance.now() < end; mutant = left.shift()) {
      const result = await lane.judge(mutant, number);
      if (result && (!values.tests || result.verdict === 'killed')) results.add(result);
      // Each: whoever ends this loses nothing.
      results.save(still);
      done++;
      if (result?.verdict !== 'killed')
        say(`\r${result?.verdict ?? 'cannot be told'}: line ${mutant.line}, ${mutant.id}\n`);
      say(`\r${left.length} left, ${Math.round((done * 60_000) / (performance.now() - began))} a minute `);
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
  await lane.end();
}

const asked = values.tests && { sources: SOURCES, tests: values.tests.join() };
for (const name of ['sources', ...Object.keys(ENGINES)]) {
  if (values.lane && !values.lane.includes(name)) continue;
  const results = new Results(`${root}.results/mutation/${name}.jsonl`);
  const lane = name === 'sources' ? new SourcesLane(values.again, asked) : new ScriptsLane(name);
  const shown = sampled(lane.mutants.filter(wanted));
  const left = shown.filter(({ id }) => {
    const verdict = results.get(id)?.verdict;
    if (isEquivalent(id)) return false;
    return !verdict || (values.again && verdict !== 'killed');
  });
  if (left.length > 0 && performance.now() < end) await run(lane, left, results);
  const own = rows(shown, results, values.files ? 'file' : 'folder', isEquivalent);
  table.push(...own);
  if (values.sample) lines.push(sampledLine(name, own, lane.mutants.filter(wanted).length));
  if (values.survivors)
    for (const { id, line } of shown) {
      const verdict = results.get(id)?.verdict;
      if (verdict && verdict !== 'killed' && !isEquivalent(id)) say(`\n${verdict}: line ${line}, ${id}`);
    }
}
if (values.json) for (const row of table) console.log(JSON.stringify(row));
else console.log(['', printed(table), ...lines].join('\n'));
