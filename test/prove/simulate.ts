/** `node test/prove/simulate.ts --for 60 [--seed 1]`: random histories of the core and of a quorum; a line of JSON for each kind. */
import { parseArgs } from 'node:util';
import { createLocks } from '../../src/locks.ts';
import { check } from '../simulation/checkers.ts';
import { simulate } from '../simulation/simulate.ts';

const { values } = parseArgs({
  options: { for: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});
/** A history over five takes eight times as long. */
const SHARES = [
  [1, 0.75],
  [5, 0.25],
] as const;
for (const [nodes, share] of SHARES) {
  const until = performance.now() + Number(values.for) * 1_000 * share;
  const from = Number(values.seed);
  let seed = from;
  const broken: number[] = [];
  for (; performance.now() < until; seed++)
    if (check(await simulate(seed, createLocks, nodes)).length > 0) broken.push(seed);
  console.log(JSON.stringify({ nodes, from, histories: seed - from, broken }));
  if (broken.length > 0) process.exitCode = 1;
}
