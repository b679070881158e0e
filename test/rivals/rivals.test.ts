import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Progress } from '../../products/torture/torture.ts';
import { describeOn } from '../kit/suite.ts';
import { RIVALS } from './rivals.ts';
import { OURS, tortureRival } from './run.ts';

const LIMIT = { timeout: 150_000 };
/** Pauses beyond the lease: without a token nothing refuses what a holder writes afterwards. */
const plan = { duration: 60_000, seed: 5, faults: ['stopped'] as const };

describe.each(['redis', 'file', 'etcd'] as const)('under pauses beyond the lease, on %s', (on) => {
  describeOn(on, 'a register', () => {
    const names = Object.entries(RIVALS).flatMap(([name, rival]) => (rival.on === on ? [name] : []));
    test.each(names)('of %s takes a write of a holder whom another has followed', LIMIT, async (name) => {
      const enough = ({ broken }: { broken: { register?: number } }): boolean => (broken.register ?? 0) > 0;
      const { totals, staleWrites, staleRefused, broken } = await tortureRival({ ...plan, name, on, enough });
      expect(totals.holds).toBeGreaterThan(10);
      expect(broken.crash, 'crashes').toBeUndefined();
      expect(broken.register).toBeGreaterThan(0);
      expect([staleWrites > 0, staleRefused]).toEqual([true, 0]);
    });
  });
});

describeOn('redis', 'under the same pauses', () => {
  test('ours refuses every such write, and breaks nothing', LIMIT, async () => {
    const { staleWrites, staleRefused, broken } = await tortureRival({
      ...plan,
      name: OURS,
      on: 'redis',
      duration: 20_000,
    });
    expect([broken, staleRefused]).toEqual([{}, staleWrites]);
    expect(staleWrites).toBeGreaterThan(0);
  });
});

describeOn(['redis', 'maven'], 'under the same pauses', () => {
  test.each(['redisson', 'redisson-fenced'])(
    '%s in Java has the faults and the judge of the others',
    LIMIT,
    async (name) => {
      const enough = ({ totals, faults }: Progress): boolean =>
        totals.holds > 100 && (faults.stopped?.effective ?? 0) > 3;
      const { totals, faults, broken } = await tortureRival({ ...plan, name, on: 'redis', enough });
      expect(totals.holds).toBeGreaterThan(100);
      expect(faults.stopped?.effective).toBeGreaterThan(3);
      expect(broken.crash, 'crashes').toBeUndefined();
    },
  );
});

test('no adapter is longer than 60 lines', () => {
  for (const name of Object.keys(RIVALS)) {
    const file = new URL(`${name.replace('@verrou/core', 'verrou')}.ts`, import.meta.url);
    expect(readFileSync(file, 'utf8').split('\n').length, name).toBeLessThanOrEqual(61);
  }
});
