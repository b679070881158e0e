import { describe, expect, test } from 'vitest';
import { fleet } from './fleet.ts';

/** ms of the machine: a run of a hundred processes in virtual time takes ten seconds of a busy one. */
const timeout = 240_000;

describe('many processes that want one key of a store whose writes take 42 to 63 ms', () => {
  test.each([1, 2])('a hundred of them cost little, and all are served, seed %i', { timeout }, async (seed) => {
    const report = await fleet({ processes: 100, ttl: 30_000, serves: true, seed });
    expect(report.refused, 'the part of the writes that was refused').toBeLessThanOrEqual(0.2);
    expect(report.requestsPerSecond).toBeLessThanOrEqual(20);
    expect(report).toMatchObject({ waiting: 99, served: 99, lost: 0, failed: {} });
  });

  test.each([
    [100, 10_000],
    [150, 30_000],
    [40, 5_000],
  ])('%i with a ttl of %i ms lose no lease, and all are served', { timeout }, async (processes, ttl) => {
    const report = await fleet({ processes, ttl, serves: true });
    expect(report).toMatchObject({ waiting: processes - 1, served: processes - 1, lost: 0, failed: {} });
    expect(report.refused).toBeLessThanOrEqual(0.3);
  });

  test('twenty of them that come at the same moment all come into the queue', { timeout }, async () => {
    const report = await fleet({ processes: 20, ttl: 30_000, arrival: 1, hold: 20_000, serves: true });
    expect(report).toMatchObject({ waiting: 19, served: 19, lost: 0, failed: {} });
  });
});
