import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgres } from '../../src/backends/postgres/index.ts';
import type { Contestant, Contestants, Place } from '../contestant.ts';
import { holdfast } from './holdfast.ts';

const POLL = 5;
const TABLE = 'CREATE TABLE IF NOT EXISTS bare (name text PRIMARY KEY, owner text, fence bigint, expires timestamptz)';
const TAKE = `INSERT INTO bare AS b VALUES ($1, $2, 1, clock_timestamp() + interval '30 s')
  ON CONFLICT (name) DO UPDATE SET owner = $2, fence = b.fence + 1, expires = clock_timestamp() + interval '30 s'
  WHERE b.expires <= clock_timestamp() RETURNING fence`;
const FREE = "UPDATE bare SET owner = '', expires = '-infinity' WHERE name = $1 AND owner = $2";

const connect = ({ url }: Place): pg.Pool => new pg.Pool({ connectionString: url });

/** The floor: a lease row taken and freed by a statement each, and a poll where it is taken. */
async function bare(place: Place): Promise<Contestant> {
  const pool = connect(place);
  // Two processes that make a table at the same moment may collide in the catalogue.
  if (place.seat === 0) await pool.query(TABLE);
  return {
    lock: (key) => async () => {
      const values = [key, randomUUID()];
      while ((await pool.query({ name: 'take', text: TAKE, values })).rowCount === 0) await sleep(POLL);
      return () => pool.query({ name: 'free', text: FREE, values });
    },
  };
}

export default { holdfast: (place) => holdfast(postgres(connect(place))), bare } satisfies Contestants;
