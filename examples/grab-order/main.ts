/** Many drivers tap *grab* on the same order. Each strategy, on real servers, with the same load. */
import { parseArgs } from 'node:util';
import { DATABASES, type DatabaseName, openDatabase } from './database.ts';
import { Fleet } from './fleet.ts';
import { createOrders } from './orders.ts';
import { type Result, round } from './round.ts';
import { Servers } from './servers.ts';
import { STRATEGIES, type Strategy } from './strategies.ts';

const USAGE = `An HTTP service in several processes, a table of orders, and drivers who all tap on the same order
in the same moment, order by order.

  --strategies <names>  all (default), or some of: ${STRATEGIES.map(({ name }) => name).join(', ')}
  --database <name>     ${DATABASES.join(', ')}: where the orders are. Default: mariadb when one of the
                        strategies locks in the database, else sqlite, which needs no server
  --orders <n>          default 20
  --drivers <n>         over all processes; default 20
  --processes <n>       default 2
  --work <ms>           between reading an order and giving it away, give or take half; default 20
  --url <url>           an engine of yours, such as redis://127.0.0.1, for the strategies url and url-spin
`;

export async function grabOrder(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      strategies: { type: 'string', default: 'all' },
      database: { type: 'string' },
      orders: { type: 'string', default: '20' },
      drivers: { type: 'string', default: '20' },
      processes: { type: 'string', default: '2' },
      work: { type: 'string', default: '20' },
      url: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const size = {
    orders: count(values.orders, '--orders', 10_000),
    drivers: count(values.drivers, '--drivers', 1_000),
    processes: count(values.processes, '--processes', 16),
    work: count(values.work, '--work', 10_000),
  };
  const names = values.strategies.split(',').map((name) => name.trim());
  const isMeant = ({ name, needs }: Strategy): boolean =>
    names.includes(name) || (names.includes('all') && (needs !== 'url' || values.url !== undefined));
  const chosen = STRATEGIES.filter(isMeant);
  const unknown = names.filter((name) => name !== 'all' && !STRATEGIES.some((strategy) => strategy.name === name));
  if (unknown.length > 0) throw new Error(`no strategy ${unknown.join(', ')}; see --help`);

  const inDatabase = chosen.find((strategy) => strategy.inDatabase);
  const database = databaseOf(values.database ?? (inDatabase ? 'mariadb' : 'sqlite'));
  if (inDatabase && database === 'sqlite')
    throw new Error(`${inDatabase.name} locks in the database: --database mariadb, or postgres`);

  await using servers = new Servers(values.url);
  const url = await servers.url(database);
  const orders = openDatabase(url);
  await createOrders(orders).finally(() => orders.end());
  console.log(
    `${size.drivers} drivers tap "grab" on each of ${size.orders} orders, in ${size.processes} processes; orders in ${database}.\n`,
  );
  await using fleet = await Fleet.start(size.processes);
  const results: Result[] = [];
  for (const strategy of chosen) {
    const locks = strategy.needs ? await servers.url(strategy.needs) : url;
    const result = await round(fleet, strategy, url, locks, size);
    console.log(`${strategy.name} (${strategy.words}): ${sentence(result)}`);
    results.push(result);
  }
  console.log();
  console.table(Object.fromEntries(results.map((result) => [result.strategy.name, row(result)])));
  const wrong = results.filter(({ right, strategy: { unsafe } }) => !right && !unsafe);
  console.log(wrong.length === 0 ? '\nEvery lock gave each order to one driver.' : '\nWRONG: see above.');
  return wrong.length === 0 ? 0 : 1;
}

function databaseOf(name: string): DatabaseName {
  const found = DATABASES.find((each) => each === name);
  if (found) return found;
  throw new Error(`--database is ${JSON.stringify(name)}; it must be one of ${DATABASES.join(', ')}`);
}

function sentence({ orders, wonTwice, wonByNobody, errors }: Result): string {
  if (errors > 0) return `${errors} requests failed`;
  if (wonTwice > 0) return `${wonTwice} of ${orders} orders were won more than once`;
  return wonByNobody > 0 ? `${wonByNobody} of ${orders} orders were won by nobody` : 'each order has one winner';
}

const row = ({ orders, winners, wonTwice, requestsPerSecond, p50, p99, handOvers }: Result) => ({
  orders,
  winners,
  'won more than once': wonTwice,
  'requests/s': requestsPerSecond,
  'p50, ms': Number(p50.toFixed(1)),
  'p99, ms': Number(p99.toFixed(1)),
  'hand-overs': handOvers,
});

function count(text: string, name: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`${name} is ${JSON.stringify(text)}; it must be a whole number from 1 to ${max}`);
}

if (import.meta.main) process.exitCode = await grabOrder(process.argv.slice(2));
