import { DatabaseSync } from 'node:sqlite';
import { schema } from '../../src/backends/file/sql.generated.ts';
import { prepare } from '../../src/backends/file/statements.ts';
import { type FileClaims, FileTransaction } from '../../src/backends/file/transaction.ts';
import { memory } from '../../src/backends/memory.ts';
import { StoredNames } from '../../src/backends/shared/names.ts';
import { type EngineQueue, hintsBy, valuesBy } from '../../src/backends/shared/queue.ts';
import type { Backend, Grant } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import type { Plot } from './plots.ts';

/** Plots of one server that keeps claims by their leases. */
export const fitsFile = ({ nodes = 1, keptBy = 'lease' }: Plot): boolean => nodes === 1 && keptBy === 'lease';

const FORMAT = 1;
const BOOT = 'explored';

/**
 * The steps of the file backend as a server's: its own transactions, on SQLite in memory and by the virtual clock. Left out are the file
 * itself, its sockets, and what the death of a process sets off: the tests of the backend have those.
 */
export function fileServer(clock: Clock): Backend {
  const db = new DatabaseSync(':memory:');
  db.exec(schema);
  db.prepare('INSERT INTO ledger VALUES (1, ?, ?, 0)').run(FORMAT, BOOT);
  const sql = prepare(db);
  let versions = 0;
  const context = {
    names: new StoredNames('explored'),
    process: 'here',
    known: new Map<string, FileClaims>(),
    newVersion: () => `${++versions}`,
    tokens: {
      reserve: (count: number, min: bigint): bigint =>
        BigInt((sql.draw.get(min, count, FORMAT, BOOT) as { last: number }).last - count + 1),
      pass(token: bigint): void {
        sql.lift.get(token, FORMAT, BOOT);
      },
    },
  };
  const waiting = new Map<string, (grant: Grant) => void>();

  async function transact<T>(work: (turn: FileTransaction, now: number) => T): Promise<T> {
    const now = clock.now();
    const turn = new FileTransaction(context, sql, now);
    sql.begin.run();
    const result = work(turn, now);
    sql.commit.run();
    for (const { id, token, ttl } of turn.admitted) waiting.get(id)?.({ granted: true, token, validFor: ttl });
    return result;
  }

  const ask = <T>(key: string, act: (queue: EngineQueue) => T): Promise<T> =>
    transact((turn) => turn.step(key, act, true));

  return {
    name: 'file, explored',
    traits: memory({ clock }).traits,
    attempt: (claim) => transact((turn, now) => turn.attempt(claim, now)),
    renew: (claims) => transact((turn) => claims.map((claim) => turn.step(claim.key, (queue) => queue.renew(claim)))),
    release: (handle, next) => transact((turn, now) => turn.release(handle, next, now)),
    store: (handle, value) => transact((turn) => turn.store(handle, value)),
    watch: ({ id }, wake) => {
      waiting.set(id, wake);
      return {
        [Symbol.asyncDispose]: async () => {
          waiting.delete(id);
        },
      };
    },
    async *inspect(prefix, { exact = false } = {}) {
      while (!(await transact((turn) => turn.sweep())));
      yield* await transact((turn) => turn.inspect(prefix, exact));
    },
    evict: async (key, token) =>
      (await transact((turn) => turn.step(key, (queue) => queue.evict((claim) => claim.token === token)))) !==
      undefined,
    hints: hintsBy(ask),
    values: valuesBy(ask, async function* (prefix) {
      yield* await transact((turn) => turn.keysWithValues(prefix));
    }),
    async close() {
      db.close();
    },
  };
}
