/** Torture, while its servers are hurt as only their owner can: `npm run prove -- torture:owner --help`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { torture } from '../../../products/torture/torture.ts';
import { flagsOf } from '../../kit/flags.ts';
import { HURTS, type Hurt, type HurtKind } from './hurts.ts';
import { OWNED } from './owned.ts';

type Counts = { [kind in HurtKind]?: number };

/** ms: beyond the lease of 2 s in half of the cases; and of peace, in which sessions come back. */
const [SHORT, LONG, PEACE] = [1_000, 4_000, 6_000];

/** One thing after the other, with peace in between, until the end. */
async function hurt(owned: Hurt, kinds: readonly HurtKind[], counts: Counts, signal: AbortSignal): Promise<void> {
  const pass = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});
  await pass(PEACE);
  for (let turn = 0; !signal.aborted; turn++) {
    const kind = kinds[turn % kinds.length]!;
    await HURTS[kind](owned, turn % 4 < 2 ? SHORT : LONG, turn, pass);
    counts[kind] = (counts[kind] ?? 0) + 1;
    await pass(PEACE);
  }
}

const USAGE = `npm run prove -- torture:owner [name, or part of names…] [flags]: torture, while servers are hurt as only their owner can
  --for 60   seconds of each
  --seed 1   the same faults again
  --json     a line of JSON for each
  --help     this
Servers are stopped, killed, started again with or without their data, write slowly, or have their clock set. Each line says which promise of
docs/promises.md is looked at.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const exact = OWNED.filter(({ name }) => positionals.includes(name));
const alike = OWNED.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)));
for (const { name, promise, hurts, mayBreak = [], worker, start } of exact.length > 0 ? exact : alike) {
  await using owned = await start();
  const duration = Number(values.for) * 1_000;
  const over = new AbortController();
  // At peace again before it ends: what is left is looked at then.
  const until = AbortSignal.any([over.signal, AbortSignal.timeout(Math.max(1, duration - PEACE))]);
  const counts: Counts = {};
  const hurting = hurt(owned, hurts, counts, until);
  const plan = { url: owned.url, duration, seed: Number(values.seed), processes: 4, ...(worker && { worker }) };
  let verdict: Awaited<ReturnType<typeof torture>>;
  try {
    verdict = await torture({ ...plan, busy: 4 });
  } finally {
    over.abort();
    await hurting;
  }
  const { totals, faults, broken, violations, ran } = verdict;
  // What the page says may be, is no surprise; and what was not done to the server shows nothing about it.
  const allowed = Object.keys(broken).every((kind) => mayBreak.some((may) => may === kind));
  const untried = hurts.some((kind) => !counts[kind]);
  const outcome =
    verdict.outcome === 'broken' && allowed
      ? 'broken, as the page says it may'
      : verdict.outcome === 'kept' && untried
        ? 'nothing'
        : verdict.outcome;
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  const messages = violations.slice(0, 5).map(({ message }) => message);
  if (values.json)
    console.log(JSON.stringify({ name, promise, outcome, ran, totals, faults, counts, broken, messages }));
  else {
    const done = Object.entries(counts).map(([kind, times]) => `${kind} ${times}`);
    console.log(
      `${outcome.padEnd(8)} ${name}: ${promise}. ${totals.holds} holds, ${effective} faults; ${done.join(', ')}`,
    );
    for (const message of messages) console.log(`    ${message}`);
  }
  if (outcome === 'broken') process.exitCode = 1;
}
