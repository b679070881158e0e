import { expect, test } from 'vitest';
import { describeOn } from './kit/suite.ts';
import { LIMIT, searchOf } from './models/spin.ts';

/** Every state of a model: what spin says of the first that is wrong, if there is one, and how many states there are. */
async function explore(model: string, twin?: string): Promise<{ error: string | undefined; states: number }> {
  using search = await searchOf({ model, defined: twin ? [twin] : [] });
  const printed = await search.run(['-m100000']);
  const error = /^pan:1: (.*) \(at depth/m.exec(printed)?.[1];
  if (!error) expect(printed, 'the search').not.toMatch(/max search depth too small|Search not completed/);
  return { error, states: Number(/([\d.e+]+) states, stored/.exec(printed)?.[1]) };
}

const TOKENS = 'assertion violated (token>newest)';

/** What each twin must fail with. */
const MODELS = {
  'grant-by-release': { NO_POLL: 'invalid end state', NO_EXPIRY: 'invalid end state' },
  'hand-off': { SAME_TOKEN: TOKENS, NO_BOUND: 'assertion violated (turns<=3)', NO_CLOCK: TOKENS },
  'quorum-token': { TWO_MAJORITIES: 'assertion violated (number>newest)' },
};

describeOn('models', 'models', () => {
  for (const [model, twins] of Object.entries(MODELS)) {
    test(`${model} holds in every state`, { timeout: LIMIT }, async () => {
      const { error, states } = await explore(model);
      expect(error).toBeUndefined();
      expect(states).toBeGreaterThan(1_000);
    });
    test.each(Object.entries(twins))(`${model} with %s fails`, { timeout: LIMIT }, async (twin, wrong) => {
      const { error } = await explore(model, twin);
      expect(error).toBe(wrong);
    });
  }
});
