import { around } from '../../../products/testing/around.ts';
import type { Attempt, Backend } from '../../../src/core/contract/backend.ts';

/** Engines that break a promise of memos, each in a way of its own. */
export const BROKEN: Readonly<Record<string, (engine: Backend) => Backend>> = {
  'says that it left words which it did not leave': (engine) =>
    around(engine, {
      store: async (handle) => {
        await engine.release(handle);
        return true;
      },
    }),
  'takes words of a hold that is over': (engine) =>
    around(engine, {
      store: async (handle, value) => {
        await engine.store!(handle, value);
        return true;
      },
    }),
  'answers with other words': (engine) =>
    around(engine, {
      attempt: async (claim) => {
        const attempt = await engine.attempt(claim);
        if (attempt.granted || !attempt.value) return attempt;
        return { ...attempt, value: { ...attempt.value, text: attempt.value.text.replace('value', 'valve') } };
      },
    }),
  'grants beside a holder': (engine) => {
    let refused = 0;
    const beside = (attempt: Attempt): Attempt =>
      !attempt.granted && !attempt.value && ++refused % 3 === 0
        ? { granted: true, token: 9_000_000n + BigInt(refused), validFor: 2_000 }
        : attempt;
    return around(engine, { attempt: async (claim) => beside(await engine.attempt(claim)) });
  },
};
