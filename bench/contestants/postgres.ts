import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgres } from '../../src/backends/postgres/index.ts';
import type { LocksDefaults } from '../../src/index.ts';
import type { Contestant, Contestants, Place, Release } from '../contestant.ts';
import { counted } from './counted.ts';
import { apart, fleet, holdfast } from './holdfast.ts';

const POLL = 5;
const TABLE = 'CREATE TABLE IF NOT EXISTS bare (name text PRIMARY KEY, owner text, fence bigint, expires timestamptz)';
const TAKE = `INSERT INTO bare AS b VALUES ($1, $2, 1, clock_timestamp() + interval '30 s')
  ON CONFLICT (name) DO UPDATE SET owner = $2, fence = b.fence + 1, expires = clock_timestamp() + interval '30 s'
  WHERE b.expires <= clock_timestamp() RETURNING fence`;
const FREE = "UPDATE bare SET owner = '', expires = '-infinity' WHERE name = $1 AND owner = $2";
const NOTIFY = "SELECT pg_notify($1, '')";
const WRITE_AND_NOTIFY = `WITH baton AS (
  INSERT INTO bare AS b VALUES ('baton', '', 0, '-infinity') ON CONFLICT (name) DO UPDATE SET fence = b.fence + 1 RETURNING name
) SELECT pg_notify($1, name) FROM baton`;

const connect = ({ url }: Place, max = 10): pg.Pool => new pg.Pool({ connectionString: url, max });

async function withTable(place: Place): Promise<pg.Pool> {
  const pool = connect(place);
  // Two processes that make a table at the same moment may collide in the catalogue.
  if (place.seat === 0) await pool.query(TABLE);
  return pool;
}

/** The floor: a lease row taken and freed by a statement each, and a poll where it is taken. */
async function bare(place: Place): Promise<Contestant> {
  const pool = await withTable(place);
  return {
    lock: (key) => async () => {
      const values = [key, randomUUID()];
      while ((await pool.query({ name: 'take', text: TAKE, values })).rowCount === 0) await sleep(POLL);
      return () => pool.query({ name: 'free', text: FREE, values });
    },
  };
}

/** The floor of a hand-over: two processes throw a baton by NOTIFY, with nothing around it. */
async function batons(place: Place, text: string): Promise<Contestant> {
  const pool = await withTable(place);
  const ear = new pg.Client(place.url);
  const mine: true[] = place.seat === 0 ? [true] : [];
  let caught: (() => void) | undefined;
  ear.on('notification', () => {
    mine.push(true);
    caught?.();
  });
  await ear.connect();
  await ear.query(`LISTEN baton_${place.seat}`);
  const release = (): unknown => pool.query({ name: 'toss', text, values: [`baton_${1 - place.seat}`] });
  return {
    lock: () => async (): Promise<Release> => {
      while (!mine.pop()) await new Promise<void>((resolve) => (caught = resolve));
      return release;
    },
  };
}

const fleetOf = (place: Place, options?: LocksDefaults): Contestant =>
  fleet(place, () => postgres(connect(place, 2)), options);

export default {
  fleet: (place) => fleetOf(place),
  'fleet, no hand-off': (place) => fleetOf(place, { handOff: false }),
  holdfast: (place) => counted(connect(place), (pool) => holdfast(postgres(pool))),
  'holdfast, apart': (place) => counted(connect(place, 32), (pool) => apart(postgres(pool))),
  bare,
  // A transaction that only notifies does not wait for the disk; nobody hears of one that writes before it is there.
  notify: (place) => batons(place, NOTIFY),
  'write and notify': (place) => batons(place, WRITE_AND_NOTIFY),
} satisfies Contestants;
