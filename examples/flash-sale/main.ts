/** A flash sale: many buyers at once, few units. One lock against segments, against one atomic step. */
import { parseArgs } from 'node:util';
import { startRedis } from '../../test/kit/redis.ts';
import { type Result, round } from './round.ts';
import { Shops } from './shops.ts';
import { WAYS } from './ways.ts';

const USAGE = `A flash sale on Redis: N units, M buyers at once, several processes.

  --units <n>       default 300
  --buyers <n>      default 600
  --processes <n>   default 2
  --work <ms>       what each sale takes besides: payment, order… Default 5
  --ways <words>    only ways whose name contains one of these, with commas between
  --url <url>       a Redis of yours; default: one of its own, on a free port
`;

/** @param took gets the result of each way */
export async function flashSale(args: readonly string[], took: (result: Result) => void = () => {}): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      units: { type: 'string', default: '300' },
      buyers: { type: 'string', default: '600' },
      processes: { type: 'string', default: '2' },
      work: { type: 'string', default: '5' },
      ways: { type: 'string', default: '' },
      url: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const processes = count(values.processes, '--processes', 16);
  const size = {
    units: count(values.units, '--units', 100_000),
    buyers: count(values.buyers, '--buyers', 100_000),
    work: count(values.work, '--work', 1_000),
  };
  const words = values.ways.split(',').filter(Boolean);
  await using stack = new AsyncDisposableStack();
  const url = values.url ?? stack.use(await startRedis()).url;
  const shops = stack.use(await Shops.start(processes));

  const { units, buyers, work } = size;
  console.log(`${units} units, ${buyers} buyers at once in ${processes} processes, ${work} ms of work a sale.\n`);
  const results: Result[] = [];
  for (const way of WAYS) {
    if (words.length > 0 && !words.some((word) => way.name.includes(word.trim()))) continue;
    const result = await round(shops, way, url, url, size);
    console.log(`${way.name}: ${sentence(result)}`);
    results.push(result);
    took(result);
  }
  console.log();
  console.table(Object.fromEntries(results.map((result) => [result.way, row(result)])));
  const wrong = results.filter(({ unsafe, right }) => !unsafe && !right);
  console.log(wrong.length === 0 ? '\nNo lock of holdfast sold a unit too many, or left one.' : '\nWRONG: see above.');
  return wrong.length === 0 ? 0 : 1;
}

export function sentence({ sold, oversold, leftOver, units }: Result): string {
  if (oversold > 0) return `sold ${sold} of ${units} units: ${oversold} too many`;
  return leftOver > 0 ? `sold ${sold} of ${units} units: ${leftOver} were left` : `sold ${sold}, right to the unit`;
}

const row = ({ units, sold, oversold, leftOver, ordersPerSecond, p99, commandsPerSale, handOvers }: Result) => ({
  units,
  sold,
  oversold,
  'left over': leftOver,
  'orders/s': ordersPerSecond,
  'p99, ms': p99,
  'commands a sale': commandsPerSale,
  'hand-overs': handOvers,
});

function count(text: string, name: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`${name} is ${JSON.stringify(text)}; it must be a whole number from 1 to ${max}`);
}

if (import.meta.main) process.exitCode = await flashSale(process.argv.slice(2));
