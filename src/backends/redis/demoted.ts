import { systemClock } from '../../core/contract/clock.ts';
import { isReply } from './errors.ts';

/** The time between two times that a connection is left, ms: there may be no new primary yet. */
const PAUSE = 1_000;

interface Leaving {
  readonly options?: { readonly socket?: object | undefined } | undefined;
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/**
 * A demoted primary keeps its connections, while the name or the address leads to the next one. node-redis has nothing like
 * `reconnectOnError` of ioredis. But it connects again when the server ends the connection, as it does after `QUIT`, which
 * everybody may send; what was sent before is answered first.
 * @returns to be called with each error that an answer is
 */
export function leavingDemoted(client: Leaving): (error: unknown) => void {
  const { reconnectStrategy } = (client.options?.socket ?? {}) as { readonly reconnectStrategy?: unknown };
  let next = 0;
  return (error) => {
    if (reconnectStrategy === false || !isReply(error, 'READONLY')) return;
    const now = systemClock.now();
    if (now < next) return;
    next = now + PAUSE;
    client.sendCommand(['QUIT']).catch(() => {}); // the next request finds out about the end
  };
}
