/** What becomes of a claim that words answer. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Attempt, StoredValue, Wake } from '../../src/core/contract/backend.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import { Engine } from '../../src/core/engine/engine.ts';
import { QueuedClaim } from '../../src/core/queue/claim.ts';
import type { LocalClaim } from '../../src/core/queue/claim-step.ts';
import { claim as claimOf } from './claim.ts';

const WORDS: StoredValue = { text: 'done', token: 1n, age: 0, validFor: 60_000 };

/** A claim that any words answer, on an engine with a mailbox; what it asked and gave back, and what it heard. */
function asking(answer?: Attempt) {
  const clock = manualClock(1);
  const memoryEngine = memory({ clock });
  const calls = { attempts: 0, released: [] as string[] };
  const heard: { readonly left: StoredValue | undefined; readonly granted: boolean; readonly sent: number }[] = [];
  let mail: Wake | undefined;
  const backend = around(memoryEngine, {
    traits: { ...memoryEngine.traits, wakes: 'buffered' },
    attempt(claim) {
      calls.attempts++;
      return answer ? Promise.resolve(answer) : memoryEngine.attempt(claim);
    },
    release(handle, next) {
      calls.released.push(handle.id);
      return memoryEngine.release(handle, next);
    },
    store(handle, value) {
      calls.released.push(handle.id);
      return memoryEngine.store!(handle, value);
    },
    watch(_, wake) {
      mail = wake;
      return { [Symbol.asyncDispose]: async () => {} };
    },
  });
  const engine = new Engine(backend, clock);
  const terms = {
    ...new LayeredOptions(backend.traits, { wait: 60_000 }).terms,
    inquiry: {
      state: undefined,
      accepts: () => ({ age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 }),
      settles(attempt: Attempt, sent: number) {
        const left = attempt.granted ? undefined : attempt.value;
        heard.push({ left, granted: attempt.granted, sent });
        return left !== undefined;
      },
    },
  };
  const claim: LocalClaim = {
    ...claimOf('ours', { accepts: terms.inquiry.accepts() }),
    origin: { process: 'ours', claim: 1, inside: [], cut: false },
    within: 5_000,
  };
  const queued = new QueuedClaim(engine, claim, terms);
  queued.claimant = { began: clock.now(), beginWait: () => {} };
  return { clock, memoryEngine, calls, heard, queued, tell: (left: StoredValue) => mail!(undefined, left) };
}

test('words that answer an attempt leave nothing of the claim on the engine, so nothing is given back', async () => {
  const { clock, calls, queued } = asking({ granted: false, value: WORDS });
  expect(await queued.pursue()).toBeUndefined();
  await clock.advance(1_000);
  expect(calls).toEqual({ attempts: 1, released: [] });
});

test('words that came by mail settle a claim: nothing is asked once more, and its place is given back', async () => {
  const { clock, memoryEngine, calls, heard, queued, tell } = asking();
  await memoryEngine.attempt({ ...queued.claim, id: 'another', accepts: undefined });
  const outcome = queued.pursue();
  await clock.advance(1);
  const sent = clock.now() - 1;
  tell(WORDS);
  expect(await outcome).toBeUndefined();
  await clock.advance(1);
  expect(heard).toEqual([
    { left: undefined, granted: false, sent },
    { left: WORDS, granted: false, sent },
  ]);
  expect(calls, 'asked, and given back').toEqual({ attempts: 1, released: [queued.claim.id] });
});

test('each attempt says anew which words would answer it, as of its own time', async () => {
  const clock = manualClock(1);
  const memoryEngine = memory({ clock });
  const asked: [at: number, age: number | undefined][] = [];
  const backend = around(memoryEngine, {
    traits: { ...memoryEngine.traits, wakes: 'never' },
    async attempt({ accepts }) {
      asked.push([clock.now(), accepts?.age]);
      return { granted: false };
    },
  });
  const terms = {
    ...new LayeredOptions(backend.traits, { spin: { pause: 100, bound: 100, jitter: 0 } }).terms,
    inquiry: {
      state: undefined,
      accepts: (sent: number) => ({ age: 1_000 + sent, mark: '-', counts: 0 }),
      settles: () => false,
    },
  };
  const claim: LocalClaim = { ...claimOf('ours'), origin: { process: 'ours', claim: 1, inside: [], cut: false } };
  const queued = new QueuedClaim(new Engine(backend, clock), claim, terms);
  queued.claimant = { began: clock.now(), beginWait: () => {} };
  const outcome = queued.pursue();
  await clock.advance(250);
  queued.leave();
  expect(await outcome).toBeUndefined();
  expect(asked.map(([at, age]) => age! - at)).toEqual([1_000, 1_000, 1_000]);
});
