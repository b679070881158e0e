import { join } from 'node:path';
import { redacted } from '../../connect/url.ts';
import { type RoundResult, round, type Size } from './round.ts';

/** Runs the three rounds and prints them. @returns the exit code */
export async function rounds(size: Size, locks: string, folder: string): Promise<number> {
  const { processes, drivers, orders } = size;
  console.log(
    `${drivers} drivers in ${processes} processes tap "grab" on each of ${orders} orders at once. Only one may get it.\n`,
  );
  const plan: readonly (readonly [string, string | null])[] = [
    ['no lock', null],
    ['a lock inside each process', 'memory:'],
    [`holdfast on ${redacted(locks).split(':')[0]}`, locks],
  ];
  const results: [string, RoundResult][] = [];
  for (const [i, [name, lock]] of plan.entries()) {
    const line = `round ${i + 1} of ${plan.length}: ${name}`;
    const result = await round(join(folder, `orders-${i}.db`), lock, size, (done) =>
      show(`${line}, ${done} of ${orders} orders`),
    );
    show(`${line}: ${sentence(result, orders)}\n`);
    results.push([name, result]);
  }
  console.log();
  console.table(Object.fromEntries(results.map(([name, result]) => [name, row(result, orders)])));
  const { right } = results.at(-1)![1];
  console.log(
    right
      ? '\nWith holdfast, every order has exactly one driver.'
      : '\nWRONG: with holdfast, an order did not go to exactly one driver.',
  );
  return right ? 0 : 1;
}

/** One line that is written over on a terminal; elsewhere only what ends a line. */
function show(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text}`);
  else if (text.endsWith('\n')) process.stdout.write(text);
}

const sentence = ({ wonTwice, wonByNobody }: RoundResult, orders: number): string =>
  wonTwice + wonByNobody === 0
    ? 'every order has one driver'
    : `${wonTwice} of ${orders} orders were given to several drivers`;

const row = (result: RoundResult, orders: number) => ({
  orders,
  winners: result.winners,
  'won more than once': result.wonTwice,
  'grabs/s': Math.round(result.taps / result.seconds),
  'p50 wait, ms': Number(result.p50.toFixed(1)),
  'p99 wait, ms': Number(result.p99.toFixed(1)),
  'tokens in order': result.tokensInOrder === undefined ? '-' : result.tokensInOrder ? 'yes' : 'NO',
});
