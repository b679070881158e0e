/** `npm run demo`, `holdfast demo`: real processes fight over orders, without a lock, with a local one, and with holdfast. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '../../connect/index.ts';
import { redacted, urlOfFile } from '../../connect/url.ts';
import { isLockError } from '../../core/errors.ts';
import { Interruption } from '../interruption.ts';
import { type RoundResult, round, type Size } from './round.ts';

const HELP = `Real processes, many drivers, few orders: everybody taps "grab" on each order at once. One may have it.

  npm run demo -- [options]

  --processes <n>  processes of the service, 2 to 64 (default 4)
  --drivers <n>    drivers over all processes, up to 10000 (default 40)
  --orders <n>     orders, up to 10000 (default 10)
  --url <url>      where holdfast keeps its locks (default: a file), for example redis://127.0.0.1
  --help           this text

The exit code is 0 only if the round with holdfast gave every order to exactly one driver.`;

/** @returns the exit code: 0 right, 1 wrong, 64 bad usage, 69 the engine could not be reached; 128 + n where signal n ends it */
export async function demo(args: readonly string[]): Promise<number> {
  let size: Size;
  let url: string | undefined;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        processes: { type: 'string', default: '4' },
        drivers: { type: 'string', default: '40' },
        orders: { type: 'string', default: '10' },
        url: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log(HELP);
      return 0;
    }
    url = values.url;
    const processes = count(values.processes, '--processes', 2, 64);
    size = {
      processes,
      drivers: count(values.drivers, '--drivers', processes, 10_000),
      orders: count(values.orders, '--orders', 1, 10_000),
    };
  } catch (error) {
    console.error(`demo: ${(error as Error).message}. See --help`);
    return 64;
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  const locks = url ?? urlOfFile(join(folder, 'locks.db'));
  const tidy = (): void => rmSync(folder, { recursive: true, force: true });
  using interruption = new Interruption();
  interruption.signal.addEventListener('abort', () => {
    tidy();
    process.exit(interruption.exitCode); // its processes end when they see that it is gone
  });
  try {
    await (await connect(locks)).close(); // a wrong address is told before any round, and once
    return await rounds(size, locks, folder);
  } catch (error) {
    console.error(`demo: ${(error as Error).message}`);
    if (isLockError(error, 'LOCK_INVALID')) return 64;
    return isLockError(error) || url ? 69 : 1;
  } finally {
    tidy();
  }
}

async function rounds(size: Size, locks: string, folder: string): Promise<number> {
  const { processes, drivers, orders } = size;
  console.log(
    `${drivers} drivers in ${processes} processes tap "grab" on each of ${orders} orders at once. One may have it.\n`,
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
      : '\nWRONG: with holdfast, an order was given away wrongly.',
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

function count(text: string, name: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name} is ${JSON.stringify(text)}; it must be a whole number from ${min} to ${max}`);
}

if (import.meta.main) process.exitCode = await demo(process.argv.slice(2));
