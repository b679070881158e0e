import { EventEmitter } from 'node:events';
import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';

test('many backends over one pool are no leak to Node, listen for its errors to the last, and leave no listener', async () => {
  const pool = new pg.Pool(); // nothing is asked of it
  const many = Array.from({ length: EventEmitter.defaultMaxListeners }, () => [postgres(pool), postgresAdvisory(pool)]);
  const [last, ...others] = many.flat();
  expect(pool.listenerCount('error'), 'Node warns of more').toBeLessThan(EventEmitter.defaultMaxListeners);
  for (const backend of others) await backend.close();
  await others[0]!.close(); // again
  expect(pool.listenerCount('error'), 'an error without a listener ends the process').toBe(1);
  await last!.close();
  expect(pool.listenerCount('error')).toBe(0);
  await pool.end();
});
