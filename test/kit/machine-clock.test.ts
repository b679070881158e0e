import { describe, expect, test } from 'vitest';
import { ClockWatch, unlessClockIsSet } from './machine-clock.ts';

/** Runs of a case, of which each fails that `fails` names, while the clock is set by `steps` of that run. */
async function outcome(fails: readonly boolean[], steps: readonly number[]) {
  const said: string[] = [];
  let [runs, offset] = [0, 1_000];
  const run = async (): Promise<number> => {
    const at = runs++;
    offset += steps[at] ?? 0;
    if (fails[at]) throw new Error(`run ${runs}`);
    return runs;
  };
  const how = { offset: () => offset, say: (line: string) => void said.push(line) };
  const result = await unlessClockIsSet('a law', run, how).catch((error: Error) => error.message);
  return { result, runs, said };
}

describe('a case on a machine whose clock is set', () => {
  test('runs again after a failure, and says so', async () => {
    const { result, said } = await outcome([true, false], [470]);
    expect(result).toBe(2);
    expect(said).toEqual([expect.stringMatching(/"a law" failed while .* was set forward by 470 ms.*run 1/)]);
  });

  test('fails as soon as it fails without that', async () => {
    expect(await outcome([true, false], [0])).toEqual({ result: 'run 1', runs: 1, said: [] });
    expect(await outcome([true, true], [-300, 0])).toMatchObject({ result: 'run 2', runs: 2 });
  });

  test('fails in the end, however often the clock is set', async () => {
    expect(await outcome([true, true, true], [100, 100, 100])).toMatchObject({ result: 'run 3', runs: 3 });
  });

  test('runs once if it does not fail', async () => {
    expect(await outcome([false], [500])).toEqual({ result: 1, runs: 1, said: [] });
  });
});

test('a clock that is not set gives no line', () => {
  using watch = new ClockWatch();
  expect(watch.lines).toEqual([]);
});
