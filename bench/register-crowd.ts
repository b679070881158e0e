/**
 * The engine over registers: what a crowd that wants one key asks of the store until each of it has had the key once. Processes are processes
 * here, each request takes 0 to 8 ms. Then the same fleets as on the page, in virtual time.
 * Run: `node bench/register-crowd.ts [--publish]`
 */
import { crowd } from '../test/backends/register/crowd.ts';
import { fleet } from '../test/backends/register/fleet.ts';
import { REGISTER_FLEET, REGISTER_FLEETS, registerEntry } from './pages/commands.ts';
import { publish } from './pages/publish.ts';

console.log('processes  callers  conflicts  writes  reads  a caller');
for (const [processes, callers] of [
  [5, 10],
  [5, 50],
  [5, 200],
  [1, 50],
  [10, 50],
] as const) {
  const { conflicts, writes, reads, served } = await crowd(processes, callers);
  const each = ((writes + reads) / served).toFixed(1);
  const cells = [processes, callers, conflicts, writes, reads, each];
  console.log(cells.map((cell, n) => `${cell}`.padStart([9, 7, 9, 6, 5, 8][n]!)).join('  '));
}

console.log('processes  ttl  requests/s  of one waiter  refused  lost  failed  served');
const ratioTo = new Map<number, number>();
const fleets: Record<string, { requests: number; refused: number; lost: number; failed: number; served: number }> = {};
for (const [processes, ttl] of REGISTER_FLEETS) {
  const alone = ratioTo.get(ttl) ?? (await fleet({ processes: 2, ttl })).requestsPerSecond;
  ratioTo.set(ttl, alone);
  const { requestsPerSecond, refused, lost, failed, served } = await fleet({ processes, ttl, serves: true });
  const part = `${Math.round(refused * 100)} %`;
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0);
  const figures = { requests: requestsPerSecond, refused, lost, failed: failures, served };
  fleets[registerEntry(processes, ttl)] = figures;
  const times = `${(requestsPerSecond / alone).toFixed(1)} x`;
  console.log([processes, ttl, requestsPerSecond.toFixed(1), times, part, lost, failures, served].join('  '));
}
if (process.argv.includes('--publish')) publish(REGISTER_FLEET, fleets);
