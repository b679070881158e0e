import { afterAll, beforeAll } from 'vitest';
import { postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';
import type { Clock } from '../../../src/core/contract/clock.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { Database } from './database.ts';

const HOUR = 3_600_000;
/** A client whose idea of time is of no use to anyone else. */
const anHourOff: Clock = {
  ...systemClock,
  now: () => systemClock.now() + HOUR,
  resync: () => systemClock.resync() + HOUR,
};

/** All that the documentation asks to be granted, and settings that nobody would choose. */
const LEAST = `
  CREATE ROLE worker LOGIN;
  GRANT USAGE ON SCHEMA holdfast TO worker;
  GRANT SELECT, UPDATE ON least_meta TO worker;
  GRANT SELECT, INSERT, UPDATE, DELETE ON least_keys, least_queue, least_values TO worker;
  GRANT USAGE, SELECT ON SEQUENCE least_tokens TO worker;
  GRANT USAGE, SELECT, UPDATE ON SEQUENCE least_tokens TO worker;
  ALTER ROLE worker SET default_transaction_isolation = 'serializable';
  ALTER ROLE worker SET timezone = 'Pacific/Kiritimati';
  ALTER ROLE worker SET datestyle = 'SQL, DMY';`;

describeOn('postgres', 'PostgreSQL', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
    for (const make of [postgres, postgresAdvisory]) {
      const owner = make(database.admin, { prefix: 'least' });
      await owner.setup();
      await owner.close();
    }
    await database.sql(LEAST);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const faults = {
    die: (client) => database.faults.die!(client),
    stall: (client) => database.faults.stall!(client),
  } satisfies Database['faults'];
  /** A server, its disk and the other tests share two cores. */
  const timing = { ttl: 1_000, tolerance: 500 };
  const worker = { user: 'worker' };
  const least = { prefix: 'least', setup: 'manual', clock: anHourOff } as const;

  describeConformance({
    name: 'postgres',
    open: () => database.open((pool) => postgres(pool)),
    apart: () => database.open((pool) => postgres(pool, { prefix: 'apart' })),
    faults,
    timing,
  });
  describeConformance({
    name: 'postgres, polled, at SERIALIZABLE, with least rights, a pool of one and a clock an hour off',
    open: () => database.open((pool) => postgres(pool, { ...least, connect: false }), { ...worker, max: 1 }),
    faults,
    timing,
  });
  describeConformance({
    name: 'postgresAdvisory',
    open: () => database.open((pool) => postgresAdvisory(pool)),
    apart: () => database.open((pool) => postgresAdvisory(pool, { prefix: 'apart' })),
    faults,
    timing,
  });
  describeConformance({
    name: 'postgresAdvisory with least rights, two sessions and a clock an hour off',
    open: () => database.open((pool) => postgresAdvisory(pool, { ...least, sessions: 2 }), { ...worker, max: 1 }),
    faults,
    timing,
  });
});
