import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool, type ResultSetHeader } from 'mysql2/promise';
import { mysql } from '../../src/backends/mysql/index.ts';
import type { Contestant, Contestants, Place } from '../contestant.ts';
import { counted } from './counted.ts';
import { apart, holdfast } from './holdfast.ts';

const POLL = 5;
const TABLE =
  'CREATE TABLE IF NOT EXISTS bare (name varchar(200) PRIMARY KEY, owner char(36), fence bigint, expires datetime(6))';
const MAKE = "INSERT IGNORE INTO bare VALUES (?, '', 0, '2000-01-01')";
const TAKE =
  'UPDATE bare SET owner = ?, fence = fence + 1, expires = NOW(6) + INTERVAL 30 SECOND WHERE name = ? AND expires <= NOW(6)';
const FREE = "UPDATE bare SET expires = '2000-01-01' WHERE name = ? AND owner = ?";

const connect = ({ url }: Place, connectionLimit = 10): Pool => createPool({ uri: url, connectionLimit });

/** The floor: a lease row taken and freed by a statement each, and a poll where it is taken. */
async function bare(place: Place): Promise<Contestant> {
  const pool = connect(place);
  await pool.query(TABLE);
  const change = async (text: string, ...values: string[]): Promise<boolean> =>
    (await pool.execute<ResultSetHeader>(text, values))[0].affectedRows > 0;
  return {
    lock(key) {
      const made = change(MAKE, key);
      return async () => {
        await made;
        const owner = randomUUID();
        while (!(await change(TAKE, owner, key))) await sleep(POLL);
        return () => change(FREE, key, owner);
      };
    },
  };
}

export default {
  holdfast: (place) => counted(connect(place), (pool) => holdfast(mysql(pool))),
  'holdfast, gate': (place) => holdfast(mysql(connect(place), { gate: true })),
  'holdfast, apart': (place) => counted(connect(place, 32), (pool) => apart(mysql(pool))),
  bare,
} satisfies Contestants;
