import type { Clock } from '../../core/contract/clock.ts';
import { withLimit } from '../../core/contract/promises.ts';
import { slotOf } from './keys.ts';
import type { Listening, Port } from './port.ts';

/** The time in which a server has to deliver a message on the channel, ms. */
const PROOF_WITHIN = 2_000;
const PROBE = 'probe';
/** This does the same as `tell` of lua/include/line.lua. The server answers with the number of its listeners. */
const TELL = "return redis.call('SPUBLISH', ARGV[1], ARGV[2])";
/** The replies of a server that does not know the command, or does not let this user call it. */
const REFUSED =
  /NOPERM|no permissions|unknown command|Unknown Redis command|ACL failure in script|can't run this command/i;

/** Says that sharded messages cannot be used with this server, user or client. */
export class Impossible extends Error {}

/** Says so because a message did not come over a connection that stands. But it may be that this process stood still. */
export class Unheard extends Impossible {}

/**
 * Listens to a sharded channel and sends itself a message there, as the scripts do. That shows whether the library hears it, and whether
 * this user has the rights.
 * @param key the key of a lock that the same server has
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
  arrived.promise.catch(() => {}); // the connection may end when nobody waits for this
  const end = (): void => arrived.reject(new Error('the listening connection was lost'));
  const listening = port.listenAt!(
    slotOf(channel),
    channel,
    (message) => (message === PROBE ? arrived.resolve() : heard(message)),
    () => {
      end();
      lost();
    },
  );
  const prove = async (): Promise<void> => {
    await listening.ready;
    const listeners = Number(await port.eval(TELL, [key], [channel, PROBE]));
    if (listeners === 0) throw new Error('the server ended the subscription');
    const unheard = (): Error => new Unheard('the client library does not hear them');
    await withLimit(arrived.promise, PROOF_WITHIN, unheard, clock);
  };
  const ready = prove().catch((error: Error) => {
    throw REFUSED.test(error.message) ? new Impossible(error.message) : error;
  });
  return {
    ready,
    hangUp() {
      end();
      listening.hangUp();
    },
  };
}
