import type { EventEmitter } from 'node:events';
import type { Locks, Term } from '../../src/index.ts';

/** Emits `close` when it is closed, by whomever. */
export interface Connection extends EventEmitter<{ close: [] }> {
  close(): void;
}

/** Keeps one connection over all instances, until it is told to stop. */
export function keepConnected(
  locks: Locks,
  open: (signal: AbortSignal) => Promise<Connection>,
  signal: AbortSignal,
): Promise<void> {
  const work = async (term: Term): Promise<void> => {
    const connection = await open(term.signal);
    const over = Promise.withResolvers<void>();
    connection.once('close', over.resolve);
    term.signal.addEventListener('abort', () => connection.close(), { once: true });
    if (term.signal.aborted) connection.close();
    await over.promise;
  };
  return locks.leader('bot', { ttl: '10s' }).run(work, { signal });
}
