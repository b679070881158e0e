import {
  type Backend,
  type Clock,
  type Duration,
  milliseconds,
  sleep,
  systemClock,
  type Wake,
} from '../../src/core/index.ts';
import { around } from './around.ts';

/** An engine that a test can disturb. Each disturbance goes on until the next one, or until `up`. */
export interface FaultyBackend extends Backend {
  /**
   * Each call fails at once, as if nothing listened at the address.
   * @example
   * const engine = faulty(memory());
   * const locks = createLocks(engine);
   * engine.down();
   * await locks.mutex('order:42').tryAcquire().catch((error) => console.log(error.code)); // LOCK_UNAVAILABLE
   */
  down(): void;
  /**
   * Each answer and each wake-up comes later by this time, on the clock of `faulty`.
   * @throws LockError `LOCK_INVALID`
   * @example faulty(memory()).slow('3s');
   */
  slow(by: Duration): void;
  /**
   * Loses each call before it reaches the engine (`request`), or only its answer (`reply`). The caller cannot see which.
   * @example faulty(memory()).lose('reply');
   */
  lose(what: 'request' | 'reply'): void;
  /**
   * Ends the disturbance.
   * @example
   * const engine = faulty(memory());
   * engine.down();
   * engine.up();
   */
  up(): void;
}

type Call = (...args: unknown[]) => unknown;

/** The calls to an engine that can be disturbed; `PARTS`: those to its hints and values. */
const CALLS = ['attempt', 'renew', 'release', 'watch', 'changed', 'inspect', 'evict', 'check'];
const PARTS = { hints: ['read', 'write'], values: ['look', 'forget', 'keys'] } as const;
const LISTINGS = ['inspect', 'keys'];

const lost = new Promise<never>(() => {});

/**
 * Lets a test disturb an engine: the engine is down or slow, or what is sent is lost. To disturb one `Locks` alone, give it a
 * `faulty` of its own around the same engine.
 * @param clock the clock of the engine and the locks, if a test moves it
 * @example
 * const engine = faulty(memory());
 * const locks = createLocks(engine);
 */
export function faulty(backend: Backend, clock: Clock = systemClock): FaultyBackend {
  let state: 'up' | 'down' | 'request' | 'reply' = 'up';
  let delay = 0;

  function disturbed(call: Call): Call {
    return (...args) => {
      if (state === 'up' && delay === 0) return call(...args);
      if (state === 'down') return Promise.reject(new Error('a test has this engine down'));
      if (state === 'request') return lost;
      const answer = Promise.resolve(call(...args));
      return state === 'reply' ? answer.then(() => lost) : answer.finally(() => sleep(clock, delay));
    };
  }

  const begins = disturbed(async () => {});
  const listing = (list: Call) =>
    async function* (...args: unknown[]) {
      await begins();
      yield* list(...args) as AsyncIterable<unknown>;
    };
  /** A wake-up is delayed or lost as an answer is. */
  const watching = (watch: Call) =>
    disturbed((claim, wake, age) => {
      const delayed: Wake = (...news) => {
        if (state === 'up')
          void (delay === 0 ? (wake as Wake)(...news) : sleep(clock, delay).then(() => (wake as Wake)(...news)));
      };
      return watch(claim, delayed, age);
    });

  function callsOf(target: object, names: readonly string[]): Record<string, unknown> {
    const calls: Record<string, unknown> = {};
    for (const name of names) {
      const call = (target as Record<string, Call | undefined>)[name]?.bind(target);
      const kind = LISTINGS.includes(name) ? listing : name === 'watch' ? watching : disturbed;
      if (call) calls[name] = kind(call);
    }
    return calls;
  }

  const calls = callsOf(backend, CALLS);
  for (const [part, names] of Object.entries(PARTS)) {
    const target = backend[part as keyof typeof PARTS];
    if (target) calls[part] = callsOf(target, names);
  }
  const become = (next: typeof state, by = 0): void => {
    state = next;
    delay = by;
  };
  return around(backend, {
    ...calls,
    down: () => become('down'),
    slow: (by: Duration) => become('up', milliseconds(by, 'by')),
    lose: (what: 'request' | 'reply') => become(what),
    up: () => become('up'),
  } as Partial<Backend>) as FaultyBackend;
}
