import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { Database } from './database.ts';

describeOn('postgres', 'a pool with `binary: true`, in whose answers pg misreads numbers', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test('a listing has the figures that another pool reads', async () => {
    await using locks = createLocks(await database.open((pool) => postgres(pool), { binary: true } as object));
    await using others = createLocks(await database.open((pool) => postgres(pool)));
    await using _ = await locks.mutex('listed', { ttl: 30_000 }).acquire();
    const [seen] = await listOf(locks.inspect('listed', { exact: true }));
    const [known] = await listOf(others.inspect('listed', { exact: true }));
    const { units, capacity, position, token } = known!;
    expect(seen).toMatchObject({ units, capacity, position, token });
    for (const { since, remaining } of [seen!, known!]) {
      expect(since, 'ms since it was taken').toBeLessThan(10_000);
      expect(remaining, 'ms until it expires').toBeGreaterThan(15_000);
      expect(remaining, 'ms until it expires').toBeLessThan(40_000);
    }
    expect(await locks.check()).toEqual(await others.check());
  });
});
