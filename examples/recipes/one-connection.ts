import type { EventEmitter } from 'node:events';
import type { Locks, Term } from '../../src/index.ts';

/** Emits `close` when it is closed, by this side or the other. */
export interface Connection extends EventEmitter<{ close: []; error: [Error] }> {
  close(): void;
}

/** Keeps one connection across all instances, until it is told to stop. */
export function keepConnected(
  locks: Locks,
  open: (signal: AbortSignal) => Promise<Connection>,
  signal: AbortSignal,
  warn: (error: Error) => void = console.warn,
): Promise<void> {
  const work = async (term: Term): Promise<void> => {
    const connection = await open(term.signal);
    const over = Promise.withResolvers<void>();
    connection.on('error', warn); // without a listener it would end the process
    connection.once('close', over.resolve);
    term.signal.addEventListener('abort', () => connection.close(), { once: true });
    if (term.signal.aborted) connection.close();
    await over.promise;
  };
  return locks.leader('bot', { ttl: '10s', onError: (error) => warn(error as Error) }).run(work, { signal });
}
