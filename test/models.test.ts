import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from './kit/folder.ts';
import { program } from './kit/programs.ts';
import { describeOn } from './kit/suite.ts';

const run = promisify(execFile);
/** ms for one model; the largest takes seconds. */
const LIMIT = 120_000;

/** Every state of a model: what spin says of the first that is wrong, if there is one, and how many states there are. */
async function explore(model: string, twin?: string): Promise<{ error: string | undefined; states: number }> {
  using folder = temporaryFolder();
  const at = { cwd: folder.path, timeout: LIMIT };
  copyFileSync(join(import.meta.dirname, '..', 'models', `${model}.pml`), join(folder.path, 'model.pml'));
  await run(program('models', 'spin'), ['-a', ...(twin ? [`-D${twin}`] : []), 'model.pml'], at);
  await run(program('models', 'gcc'), ['-O2', '-DSAFETY', '-o', 'pan', 'pan.c'], at);
  const { stdout } = await run(join(folder.path, 'pan'), ['-m100000'], at);
  const error = /^pan:1: (.*) \(at depth/m.exec(stdout)?.[1];
  if (!error) expect(stdout, 'the search').not.toMatch(/max search depth too small|Search not completed/);
  return {
    error,
    states: Number(/([\d.e+]+) states, stored/.exec(stdout)?.[1]),
  };
}

const TOKENS = 'assertion violated (token>newest)';

/** What each twin must fail with. */
const MODELS = {
  'grant-by-release': { NO_POLL: 'invalid end state', NO_LAPSE: 'invalid end state' },
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
