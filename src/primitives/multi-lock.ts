import {
  type AnyLease,
  type HeldLease,
  heldLease,
  invalid,
  isLockError,
  type LayeredOptions,
  type LockError,
  type LockOptions,
  type LockRuntime,
  nextNumber,
  onAbort,
  quoted,
  shown,
  type Terms,
  withWaitUntil,
} from '../core/index.ts';
import { type Lock, LockObject, type Target } from './lock.ts';
import { MultiLease } from './multi-lease.ts';

/** Several locks as one: a caller gets all of them or none. */
export type MultiLock = Lock<MultiLease>;

/**
 * Makes one lock of several: a caller gets all or none. It takes them one after the other in the order of their names, which is the same in every
 * process, so that no two callers wait for each other. All parts share one `wait`. The parts that the caller has are renewed while it waits for the
 * rest, and all are released together.
 * @internal
 */
export function multiLock(
  runtime: LockRuntime,
  parts: readonly LockObject<AnyLease, LockOptions>[],
  defaults: LayeredOptions,
  given?: LockOptions,
): MultiLock {
  const foreign = parts.find((part) => !part.isOf(runtime));
  if (foreign) {
    const { name } = foreign.target;
    const why = `all() was given a lock of ${quoted(name)} that other Locks made; give it keys, or locks of its own Locks`;
    throw invalid(why, name);
  }
  // A lock of several keys is replaced by its parts: as a whole it would break the order.
  const sorted = parts.flatMap(({ target }) => target.parts ?? [target]).sort((a, b) => (a.name < b.name ? -1 : 1));
  const twin = sorted.find((part, i) => part.name === sorted[i + 1]?.name);
  if (twin) throw invalid(`all() was given the key ${quoted(twin.name)} twice`, twin.name);
  if (sorted.length === 0) throw invalid('all() was given no keys');
  const { clock } = runtime.engine;

  async function take(terms: Terms, _: unknown, watched: boolean): Promise<MultiLease | undefined> {
    const until = clock.now() + terms.wait;
    const leases: HeldLease[] = [];
    const all = nextNumber('requests');
    using abort = new WaitAbort(terms.signal);
    try {
      for (const part of sorted) {
        const rest = {
          ...withWaitUntil(terms, until, clock.now()),
          signal: abort.signal,
          all,
          beside: leases.map(({ hold }) => hold),
        };
        const lease = await part.take(rest, undefined, watched);
        if (!lease) break;
        const held = heldLease(lease);
        leases.push(held);
        abort.onLossOf(held);
      }
      for (const each of leases) each.assertHeld(); // one may be lost, and no timer may have fired yet
      if (leases.length === sorted.length) return new MultiLease(leases);
    } catch (error) {
      const undone = undo(leases);
      // An engine that answers nothing would not answer the releases either.
      if (!isLockError(error, 'LOCK_UNAVAILABLE')) await undone;
      throw abort.loss ?? error;
    }
    await undo(leases);
    return undefined;
  }

  const target: Target<MultiLease, LockOptions> = {
    name: sorted.map(({ name }) => name).join(', '),
    parts: sorted,
    take,
    inside: (lease, fn) =>
      sorted.reduceRight<() => Promise<unknown>>(
        // Each begins in a turn of its own: the calls for thousands of keys, one inside another, would overflow the stack.
        (inner, part, i) => () => Promise.resolve().then(() => part.inside(lease.parts[i]!, inner)),
        async () => {
          for (const part of lease.parts) if (!part.held) part.assertHeld(); // one may have ended since its turn
          return fn(lease);
        },
      )() as ReturnType<Target<MultiLease, LockOptions>['inside']> as never,
  };
  return new LockObject(runtime, target, defaults, given);
}

/** Gives all leases back at once. */
const undo = (leases: readonly HeldLease[]): Promise<unknown> => Promise.all(leases.map((lease) => lease.undo()));

/** Makes a lock of each key in a list of keys and locks. @throws LockError `LOCK_INVALID` */
export function partsOf(
  parts: readonly (string | Lock)[],
  mutexOf: (key: string) => Lock,
): LockObject<AnyLease, LockOptions>[] {
  if (!Array.isArray(parts)) throw invalid(`all() takes a list of keys and locks, not ${shown(parts)}`);
  return (parts as readonly (string | Lock)[]).map((part) => {
    const lock = typeof part === 'string' ? mutexOf(part) : part;
    if (!(lock instanceof LockObject)) throw invalid(`all() takes keys and locks, not ${shown(part)}`);
    return lock as LockObject<AnyLease, LockOptions>;
  });
}

/** Ends a caller's wait for its next lock when the caller loses a lock that it has, or when its signal aborts. */
export class WaitAbort implements Disposable {
  /** The loss that ended the wait. */
  loss: LockError | undefined;
  readonly #controller = new AbortController();
  readonly #unlisten: (() => void)[] = [];

  constructor(own: AbortSignal | undefined) {
    if (own) this.#unlisten.push(onAbort(own, () => this.#controller.abort(own.reason)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Makes the loss of this lease end the wait, from now on. */
  onLossOf({ hold }: HeldLease): void {
    const lost = (loss: LockError): void => {
      this.loss ??= loss;
      this.#controller.abort(loss);
    };
    this.#unlisten.push(hold.listeners.onLoss(lost));
  }

  [Symbol.dispose](): void {
    for (const unlisten of this.#unlisten) unlisten();
  }
}
