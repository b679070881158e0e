import { callListener } from '../core/contract/call-listener.ts';
import { type Clock, systemClock } from '../core/contract/clock.ts';
import { type Duration, milliseconds } from '../core/contract/duration.ts';
import { isLockError, LockError } from '../core/contract/errors.ts';
import { checkNames, namesOf } from '../core/contract/options.ts';
import { sleep } from '../core/contract/promises.ts';
import { backOff } from '../core/queue/pause.ts';
import { ENGINES } from './registry.ts';

/** Options of `connect` for a server that is not there yet. */
export interface ConnectOptions {
  /**
   * How long to go on trying while the server cannot be reached: 0 to a year. Default 0: one try, which takes up to 5 s. A wrong
   * address, user, password or certificate is an error at once.
   */
  readonly within?: Duration | undefined;
  /** Ends the wait: `LOCK_ABORTED`. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the error of each try that another one follows. */
  readonly onError?: ((error: LockError) => void) | undefined;
}

const KNOWN = namesOf<ConnectOptions>({ within: true, signal: true, onError: true });
/** Between two tries, ms. */
const PAUSE = { pause: 100, jitter: 0.5, bound: 2_000 };

/**
 * Opens, again and again while that may end better.
 * @param close for what is opened when nobody waits for it any more
 * @throws LockError the last one, or `LOCK_ABORTED`
 */
export async function patiently<T>(
  open: () => Promise<T>,
  close: (opened: T) => unknown,
  options: ConnectOptions,
  clock: Clock = systemClock,
): Promise<T> {
  checkNames(options, KNOWN, 'the options of connect()');
  const { signal, onError } = options;
  const until = clock.now() + milliseconds(options.within ?? 0, 'within');
  for (let tries = 0; ; tries++) {
    if (signal?.aborted) throw abortError(signal);
    try {
      const opening = open();
      return await (signal ? unlessAborted(opening, signal, close) : opening);
    } catch (error) {
      const left = until - clock.now();
      if (left <= 0 || !mayPass(error)) throw error;
      if (onError) callListener('onError of connect()', onError, error as LockError);
      await sleep(clock, Math.min(left, backOff(PAUSE, tries, clock.random())), signal);
    }
  }
}

async function unlessAborted<T>(opening: Promise<T>, signal: AbortSignal, close: (opened: T) => unknown): Promise<T> {
  let abort = (): void => {};
  const ended = new Promise<never>((_, reject) => {
    abort = () => {
      reject(abortError(signal));
      opening.then(close).catch(() => {});
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([opening, ended]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const abortError = (signal: AbortSignal): LockError =>
  new LockError('LOCK_ABORTED', 'connect() was ended by its signal', { cause: signal.reason });

const denials = Object.values(ENGINES).flatMap((engine) => engine.denials ?? []);
/** How Node's errors about certificates begin. */
const DISTRUST = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;

/**
 * Whether another try may end better: the server is not there yet, its name is not known yet, it does not answer, or has no room. Not
 * where the address, the driver, a user, a password or a certificate is wrong, nor where the backend says what is wrong.
 */
function mayPass(error: unknown): boolean {
  if (!isLockError(error, 'LOCK_UNAVAILABLE') || error.backend !== undefined) return false;
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.some(mayPass); // of several engines
  const { code, message = '' } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  const isDenied = denials.some((denial) => (typeof denial === 'string' ? denial === code : denial.test(message)));
  return !isDenied && !DISTRUST.test(String(code));
}
