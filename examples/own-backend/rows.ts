import type { DatabaseSync } from 'node:sqlite';
import type { Backend } from '../../src/backend.ts';

/** ms by the engine's own clock: no other is ever compared. */
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

const TABLE =
  'CREATE TABLE IF NOT EXISTS holds (key TEXT PRIMARY KEY, id TEXT, token INTEGER NOT NULL, until INTEGER NOT NULL)';

/** Free, expired, or mine already: one step, so that nobody comes in between. Mine keeps its token, a new hold gets a higher one. */
const ATTEMPT = `
  INSERT INTO holds VALUES (:key, :id, max(1, :minToken), ${NOW} + :ttl)
  ON CONFLICT (key) DO UPDATE SET
    token = iif(id = :id AND until > ${NOW}, token, max(token + 1, :minToken)),
    id = :id,
    until = max(${NOW} + :ttl, iif(id IS :id, until, 0))
  WHERE id IS NULL OR id = :id OR until <= ${NOW}
  RETURNING token`;

/** Only what still holds: a renewal never revives. */
const RENEW = `UPDATE holds SET until = ${NOW} + :ttl WHERE key = :key AND id = :id AND until > ${NOW}`;

/** Only with the id, so nobody else's. The row stays, because the next token has to be higher. */
const RELEASE = `UPDATE holds SET id = NULL WHERE key = :key AND id = :id AND until > ${NOW}`;

/** Mutexes in a table, a row per key: the least that a backend can be. */
export function rows(db: DatabaseSync): Backend {
  db.exec(TABLE);
  const [attempt, renew, release] = [ATTEMPT, RENEW, RELEASE].map((sql) => db.prepare(sql)) as [
    Statement,
    Statement,
    Statement,
  ];
  attempt.setReadBigInts(true);
  return {
    name: 'rows',
    traits: {
      units: 'exclusive', // no readers, no permits
      fair: false, // keeps no queue: core asks again and again
      canStarve: true, // and so a client that never pauses may keep the others out
      fencing: 'durable',
      tokenBlocks: false,
      wakes: 'never',
      expires: true,
      lifetime: 'lease',
      ttl: { min: 10, max: 365 * 86_400_000 },
    },
    async attempt({ key, id, ttl, minToken = 0n }) {
      const row = attempt.get({ key, id, ttl, minToken });
      return row ? { granted: true, token: row.token as bigint, validFor: ttl } : { granted: false };
    },
    async renew(claims) {
      return claims.map(({ key, id, ttl }) => (renew.run({ key, id, ttl }).changes ? { validFor: ttl } : 'gone'));
    },
    async release({ key, id }) {
      return { freed: Number(release.run({ key, id }).changes) > 0 };
    },
    async close() {}, // the database is the caller's
  };
}

type Statement = ReturnType<DatabaseSync['prepare']>;
