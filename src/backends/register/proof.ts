import { backOff, type Finding, LockError, onceFor, sleep, type WriteOutcome } from '../../core/index.ts';
import { type Calls, type Proof, Throttled } from './calls.ts';
import { hintOf, hintText } from './document.ts';
import { RIVALRY } from './hints.ts';

/** Other processes may test the store at the same time. Then a write may be refused because of their writes, so the test is repeated. */
const MAX_ATTEMPTS = 6;
/** The number of races at the same time. In each race, `RIVALS` writes make one new object. */
const RACES = 8;
const RIVALS = 3;
/** A store may take only one write of an object in a second. So a write is repeated: it has two rivals here, and a few in other processes. */
const MAX_RESENDS = 6;
/** The text of the proof's object once the races were run. */
const RACED = 'of compare and set, with races';

/**
 * Tests whether the store keeps the conditions of writes. Some stores ignore them, others check them some time before the write. The test
 * sends three writes of one object at once: two replace the same version, so one must fail; the third requires that there is no object, so it
 * must fail. The test takes four requests, two more the first time. A store that other products imitate must also pass
 * races once: many writes of new objects at once. Then the test's object records that.
 * @param always whether to run the races although the object records that they were run
 */
export async function proof(calls: Calls, always = false): Promise<Finding | undefined> {
  const where = await wrong(calls, always);
  if (!where) return undefined;
  return {
    severity: 'danger',
    code: 'no-compare-and-set',
    message: `${calls.store.name} let a write go ${where}, so two processes would both hold; no lock is taken here`,
    advice: 'use a store that keeps the conditions of a write, or a version of it that does',
  };
}

const writing =
  (calls: Calls, name: string, text = 'of compare and set', maxResends = MAX_RESENDS) =>
  (ifVersion?: string): Promise<WriteOutcome> =>
    calls.write(name, hintText('proof', { text, life: 0 }, calls.mark()), ifVersion, maxResends);

/** @returns undefined if the store is sound; else what was overwritten by a write that the store had to refuse */
async function wrong(calls: Calls, always: boolean): Promise<string | undefined> {
  const { clock, prefix, store } = calls;
  const name = `${prefix}/proof`;
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const { text, version } = await calls.read(name);
    if (text === undefined) {
      await writing(calls, name)();
      continue;
    }
    const said = hintOf(text, 'proof', store.name).text ?? undefined;
    const isRaced = said === RACED && !always;
    const write = writing(calls, name, said, isRaced ? 0 : MAX_RESENDS);
    const written = await Promise.all([write(version), write(version), write()]).catch((error) => {
      if (isRaced && error instanceof Throttled) return undefined;
      throw error;
    });
    if (!written) return undefined; // other processes write the object all the time, and one of them has proved the store
    const taken = written.slice(0, 2).filter(({ taken }) => taken);
    if (taken.length === 2) return 'over a version that was gone';
    if (written[2]!.taken) return 'over something that was there';
    if (taken.length === 1) {
      if (!store.imitated || isRaced) return undefined;
      // No lease limits these calls: if the store takes one write after another, the last write waits for all others.
      if (await races(calls.apart())) return 'over one that was under way';
      if (taken[0]!.version !== undefined) await writing(calls, name, RACED)(taken[0]!.version);
      return undefined;
    }
    await sleep(clock, backOff(RIVALRY, attempts, clock.random()));
  }
  return undefined;
}

/** @returns whether the store let two writes at the same time both create the same object */
async function races(calls: Calls): Promise<boolean> {
  const race = async (name: string): Promise<boolean> => {
    const write = writing(calls, name);
    const written = await Promise.all(Array.from({ length: RIVALS }, () => write()));
    // Without the right to remove it, the object stays.
    await calls.limited(async () => calls.store.remove?.(name), 'a removal').catch(() => {});
    return written.filter(({ taken }) => taken).length > 1;
  };
  const all = Array.from({ length: RACES }, () => race(`${calls.prefix}/proofs/${calls.mark()}`));
  return (await Promise.all(all)).includes(true);
}

/**
 * Tests a store before its first lock. A store that failed is not tested again: it might pass by luck.
 * @returns the proof; its `passed` throws LockError `LOCK_UNSUPPORTED` for a store that ignores versions
 */
export function storeProof(calls: Calls): Proof {
  let found: Finding | undefined;
  let kept = Number.POSITIVE_INFINITY;
  const passed = onceFor(async () => {
    found ??= await proof(calls);
    if (found)
      throw new LockError('LOCK_UNSUPPORTED', `${found.message}; ${found.advice}`, { backend: calls.store.name });
    kept = (await calls.limited(async () => calls.store.keeps?.(), 'a question')) ?? kept;
  });
  return {
    passed,
    get kept() {
      return kept;
    },
    refusal(life) {
      if (life < kept) return undefined;
      const { name } = calls.store;
      const message = `${name} removes what nobody has written for ${kept} ms, so a lease of ${life} ms would be gone before its end; take a shorter ttl, or a store that keeps what it has`;
      return new LockError('LOCK_UNSUPPORTED', message, { backend: name });
    },
    hurry: (within) => calls.hurry(within),
  };
}
