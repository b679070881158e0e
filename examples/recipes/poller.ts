import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locks, Term } from '../../src/index.ts';

export const FEED = `CREATE TABLE feed (cursor INTEGER NOT NULL, fence INTEGER NOT NULL); INSERT INTO feed VALUES (0, 0);
  CREATE TABLE entries (entry TEXT UNIQUE)`;

export interface Page {
  readonly entries: readonly string[];
  readonly next: number;
}

type Fetch = (cursor: number, signal: AbortSignal) => Promise<Page>;

/** Asks from where the last one stopped, and writes what came with the new position, or nothing of it. How much came. */
export async function poll(db: DatabaseSync, fetch: Fetch, term: Pick<Term, 'token' | 'signal'>): Promise<number> {
  const { cursor } = db.prepare('SELECT cursor FROM feed').get() as { cursor: number };
  const page = await fetch(cursor, term.signal);
  db.exec('BEGIN IMMEDIATE');
  try {
    const move = db.prepare('UPDATE feed SET cursor = ?, fence = ? WHERE fence <= ?');
    if (move.run(page.next, term.token, term.token).changes === 0) throw new Error('another leads by now');
    for (const entry of page.entries) db.prepare('INSERT INTO entries VALUES (?)').run(entry);
    db.exec('COMMIT');
    return page.entries.length;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

/** Polls while it leads, until it is told to stop. */
export function poller(locks: Locks, db: DatabaseSync, fetch: Fetch, signal: AbortSignal): Promise<void> {
  const work = async (term: Term): Promise<void> => {
    while (!term.signal.aborted) {
      const came = await poll(db, fetch, term);
      if (came === 0) await sleep(1_000, undefined, { signal: term.signal }); // nothing new: not again at once
    }
  };
  return locks.leader('feed', { onError: () => {} }).run(work, { signal });
}
