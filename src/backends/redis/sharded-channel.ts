import type { Clock } from '../../core/contract/clock.ts';
import { withLimit } from '../../core/contract/promises.ts';
import { slotOf } from './keys.ts';
import type { Listening, Port } from './port.ts';

/** ms in which a server has to deliver what was told on the channel just now. */
const PROOF_WITHIN = 2_000;
const PROBE = 'probe';
/** What `tell` of lua/include/line.lua does. The server says how many listeners it has. */
const TELL = "return redis.call('SPUBLISH', ARGV[1], ARGV[2])";
/** What a server says that does not know the command, or does not let this user. */
const REFUSED =
  /NOPERM|no permissions|unknown command|Unknown Redis command|ACL failure in script|can't run this command/i;

/** Sharded messages cannot be used with this server, user or client. */
export class Impossible extends Error {}

/**
 * Listens to a sharded channel and tells itself something there, as the scripts do: the library has to hear it, and this user
 * needs the rights.
 * @param key of a lock that the same server has
 */
export function shardedChannel(
  port: Port,
  channel: string,
  key: string,
  heard: (message: string) => void,
  lost: () => void,
  clock: Clock,
): Listening {
  const arrived = Promise.withResolvers<void>();
  const listening = port.listenAt!(
    slotOf(channel),
    channel,
    (message) => (message === PROBE ? arrived.resolve() : heard(message)),
    lost,
  );
  const prove = async (): Promise<void> => {
    await listening.ready;
    const listeners = Number(await port.eval(TELL, [key], [channel, PROBE]));
    if (listeners === 0) throw new Error('the server ended the subscription');
    const unheard = (): Error => new Impossible('the client library does not hear them');
    await withLimit(arrived.promise, PROOF_WITHIN, unheard, clock);
  };
  const ready = prove().catch((error: Error) => {
    throw REFUSED.test(error.message) ? new Impossible(error.message) : error;
  });
  return { ready, hangUp: () => listening.hangUp() };
}
