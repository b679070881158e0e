import { systemClock } from '../../core/contract/clock.ts';
import { isReply } from './errors.ts';

/** The shortest time from leaving one connection to leaving the next, ms: there may be no new primary yet. */
const PAUSE = 1_000;

interface Leaving {
  readonly options?: { readonly socket?: object | undefined } | undefined;
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/**
 * A demoted primary keeps its connections, though the name or the address already leads to the next one. node-redis has nothing like
 * `reconnectOnError` of ioredis. But it connects again when the server ends the connection, as it does after `QUIT`, which every user may
 * send. The server first answers what was sent before.
 * @returns a function to call with each error that comes as an answer
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
