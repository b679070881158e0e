import type { Contestant } from '../contestant.ts';

/** A contestant that lends a connection for each statement: as many as its pool has lent, it has sent. */
export function counted<P extends { on(event: 'acquire', listener: () => void): unknown }>(
  pool: P,
  contestant: (pool: P) => Contestant,
): Contestant {
  let sent = 0;
  pool.on('acquire', () => sent++);
  return { ...contestant(pool), statements: () => sent };
}
