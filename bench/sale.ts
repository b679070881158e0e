/**
 * The whole sale of docs/guides/selling-without-overselling.md, once; its figures go into the page.
 * Run: `node --disable-warning=ExperimentalWarning bench/sale.ts`
 */
import { flashSale } from '../examples/flash-sale/main.ts';
import type { Result } from '../examples/flash-sale/round.ts';
import { SALE } from './pages/commands.ts';
import { publish } from './pages/publish.ts';

const results: Result[] = [];
process.exitCode = await flashSale(['--units', '2000', '--buyers', '10000'], (result) => void results.push(result));
const of = ({ sold, ordersPerSecond, p99, commandsPerSale = Number.NaN }: Result) => ({
  sold,
  ordersPerSecond,
  p99,
  commandsPerSale,
});
publish(SALE, Object.fromEntries(results.map((result) => [result.way, of(result)])));
