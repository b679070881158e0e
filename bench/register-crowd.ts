/**
 * The engine over registers: what a crowd that wants one key asks of the store until each of it has had the key once. Processes are processes
 * here, each request takes 0 to 8 ms. Run: `node bench/register-crowd.ts`
 */
import { crowd } from '../test/backends/register/crowd.ts';

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
