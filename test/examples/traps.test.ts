import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { traps } from '../../examples/traps/index.ts';
import { Scene } from '../../examples/traps/scene.ts';
import { describeOn } from '../kit/suite.ts';

describeOn('redis', 'traps', () => {
  test.each(Object.entries(traps))('%s: wrong the naive way, right with holdfast', async (_name, trap) => {
    {
      await using scene = await Scene.start();
      const naive = await trap.naive(scene);
      expect(naive.right, `the naive way: ${naive.seen}`).toBe(false);
    }
    await using scene = await Scene.start();
    const held = await trap.holdfast(scene);
    expect(held.right, `holdfast: ${held.seen}`).toBe(true);
  });

  test('the command tells both', async () => {
    const main = fileURLToPath(new URL('../../examples/traps/main.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'robbed']);
    expect(stdout).toMatch(/naive {5}WRONG.*a third has the lock\n {2}holdfast {2}right.*the second keeps it/);
    await expect(promisify(execFile)(process.execPath, [main, 'nothing'])).rejects.toMatchObject({ code: 1 });
  });
});
