/** Where the time of a slow cycle goes: `node bench/redlock-trace.ts --help`. */
import { PerformanceObserver } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { flagsOf } from '../test/kit/flags.ts';
import { arenas } from './arenas.ts';
import contestants from './contestants/redlock.ts';
import { coresApart } from './cores.ts';

const USAGE = `node bench/redlock-trace.ts [flags]: one caller over Redlock of five; the slowest cycle beside the middle one, and the slowest hundredth beside the middle half
  --who holdfast   holdfast, bare, scripts, or another contestant of bench/contestants/redlock.ts
  --cycles 20000   how many are traced, after a quarter as many that are not
  --help           this`;

const { values } = flagsOf(USAGE, {
  options: { who: { type: 'string', default: 'holdfast' }, cycles: { type: 'string', default: '20000' } },
});
const COUNT = Number(values.cycles);
const contestant = Object.entries(contestants).find(([name]) => name === values.who)?.[1];
if (!contestant || !Number.isInteger(COUNT) || COUNT < 100) {
  console.error(USAGE);
  process.exit(2);
}
const MAJORITY = 3;

/** What one cycle did, and when, ms. Each command is one to one node: its time of writing, and of the data with its answer. */
interface Cycle {
  readonly began: number;
  taken: number;
  ended: number;
  readonly asked: Command[];
  readonly freed: Command[];
  cpu: number;
  /** How often the system took the core away. */
  switches: number;
  garbage: number;
}

interface Command {
  readonly node: number;
  readonly written: number;
  answered: number;
}

let commands: Command[] | undefined;
/** By node: the time of the last data that came. */
const came: number[] = [];
const watched = new Set<Redis>();

function nodeOf(client: Redis): number {
  const node = ports.indexOf(client.options.port!);
  if (!watched.has(client)) {
    watched.add(client);
    (client as unknown as { stream: NodeJS.EventEmitter }).stream.prependListener('data', () => {
      came[node] = performance.now();
    });
  }
  return node;
}

/** Every command of every client passes here. */
const send = Redis.prototype.sendCommand;
Redis.prototype.sendCommand = function (this: Redis, command, ...more) {
  if (commands && this.status === 'ready') {
    const node = nodeOf(this);
    const entry: Command = { node, written: performance.now(), answered: Number.NaN };
    commands.push(entry);
    const { promise } = command as unknown as { promise: Promise<unknown> };
    const note = (): void => {
      entry.answered = came[node]!;
    };
    promise.then(note, note);
  }
  return send.call(this, command, ...more);
};

const collections: { from: number; to: number }[] = [];
const observer = new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries())
    collections.push({ from: startTime, to: startTime + duration });
});

await using stack = new AsyncDisposableStack();
stack.defer(() => process.exit(0)); // a contestant ends with its process
const arena = stack.use(await arenas.redlock!());
const ports = arena.place.url.split(',').map(Number);
using _apart = coresApart(arena.servers!, [process.pid]);
const take = (await contestant({ ...arena.place, seat: 0, run: 'trace' })).lock('traced');

async function cycle(): Promise<Cycle> {
  const { userCPUTime, systemCPUTime, involuntaryContextSwitches } = process.resourceUsage();
  const [asked, freed]: [Command[], Command[]] = [[], []];
  const began = performance.now();
  commands = asked;
  const release = await take();
  const taken = performance.now();
  commands = freed;
  await release();
  const ended = performance.now();
  const after = process.resourceUsage();
  const cpu = (after.userCPUTime + after.systemCPUTime - userCPUTime - systemCPUTime) / 1_000;
  const switches = after.involuntaryContextSwitches - involuntaryContextSwitches;
  return { began, taken, ended, asked, freed, cpu, switches, garbage: 0 };
}

for (let i = 0; i < COUNT / 4; i++) await cycle();
observer.observe({ entryTypes: ['gc'] });
const cycles: Cycle[] = [];
for (let i = 0; i < COUNT; i++) cycles.push(await cycle());
await new Promise((resolve) => setTimeout(resolve, 50)); // the last answers and entries
observer.disconnect();
for (const each of cycles)
  for (const { from, to } of collections)
    each.garbage += Math.max(0, Math.min(to, each.ended) - Math.max(from, each.began));

const lengthOf = ({ began, ended }: Cycle): number => ended - began;
cycles.sort((a, b) => lengthOf(a) - lengthOf(b));
const us = (ms: number): string => (Number.isNaN(ms) ? '–' : (ms * 1_000).toFixed(0));
const at = (part: number): Cycle => cycles[Math.min(COUNT - 1, Math.floor(COUNT * part))]!;
console.log(`${values.who}: ${COUNT} cycles, µs: p50 ${us(lengthOf(at(0.5)))}, p99 ${us(lengthOf(at(0.99)))}, \
p99.9 ${us(lengthOf(at(0.999)))}, longest ${us(lengthOf(at(1)))}`);
const slow = cycles.filter((each) => lengthOf(each) > 1);
const seconds = cycles.reduce((sum, each) => sum + lengthOf(each), 0) / 1_000;
console.log(`longer than a millisecond: ${((slow.length / COUNT) * 100).toFixed(2)} % of the cycles, \
${(slow.length / seconds).toFixed(0)} a second; in ${slow.filter(({ garbage }) => garbage > 0.5).length} of ${slow.length} \
more than half a millisecond of garbage collection, in ${slow.filter(({ switches }) => switches > 0).length} the core was taken away`);

/** The rows of one cycle, µs since it began. */
function rowsOf({ began, taken, ended, asked, freed, ...more }: Cycle): Record<string, string> {
  const rows: Record<string, string> = {};
  for (const [what, all] of [
    ['take', asked],
    ['free', freed],
  ] as const) {
    for (const { node, written, answered } of all.toSorted((a, b) => a.node - b.node))
      rows[`${what}, node ${node + 1}: written, answered`] = `${us(written - began)}, ${us(answered - began)}`;
    rows[what === 'take' ? 'taken' : 'freed'] = us((what === 'take' ? taken : ended) - began);
  }
  return { ...rows, ...partsOf({ began, taken, ended, asked, freed, ...more }) };
}

/** When the majority of these was answered, ms. */
const majorityOf = (all: readonly Command[]): number =>
  all.map(({ answered }) => answered).sort((a, b) => a - b)[MAJORITY - 1] ?? Number.NaN;
const lastOf = (all: readonly Command[]): number => Math.max(...all.map(({ written }) => written));

function lengthsOf({ began, taken, ended, asked, freed, cpu, switches, garbage }: Cycle): Record<string, number> {
  return {
    'until all are asked': lastOf(asked) - began,
    'until the third answer': majorityOf(asked) - lastOf(asked),
    'until it is taken': taken - majorityOf(asked),
    'until all are told': lastOf(freed) - taken,
    'until the third says so': majorityOf(freed) - lastOf(freed),
    'until it is freed': ended - majorityOf(freed),
    'all of it': ended - began,
    'processor time of it': cpu,
    'garbage collected in it': garbage,
    'core taken away, times': switches / 1_000,
  };
}

const partsOf = (each: Cycle): Record<string, string> =>
  Object.fromEntries(Object.entries(lengthsOf(each)).map(([name, ms]) => [name, us(ms)]));

function mean(some: readonly Cycle[]): Record<string, string> {
  const all = some.map(lengthsOf);
  return Object.fromEntries(
    Object.keys(all[0]!).map((name) => {
      const sum = all.reduce((total, each) => total + each[name]!, 0) / all.length;
      return [name, name.endsWith('times') ? (sum * 1_000).toFixed(2) : us(sum)];
    }),
  );
}

function print(columns: Readonly<Record<string, Record<string, string>>>): void {
  const names = [...new Set(Object.values(columns).flatMap((column) => Object.keys(column)))];
  console.table(
    Object.fromEntries(
      names.map((name) => [
        name,
        Object.fromEntries(Object.entries(columns).map(([title, column]) => [title, column[name] ?? ''])),
      ]),
    ),
  );
}

print({ 'middle cycle, µs': rowsOf(at(0.5)), 'at p99': rowsOf(at(0.99)), slowest: rowsOf(at(1)) });
print({
  'middle half, mean, µs': mean(cycles.slice(COUNT / 4, (COUNT * 3) / 4)),
  'slowest hundredth': mean(cycles.slice(Math.floor(COUNT * 0.99))),
});
