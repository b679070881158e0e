import { LockError } from '../core/contract/errors.ts';
import { nextNumber } from '../core/contract/events.ts';
import type { LayeredOptions } from '../core/contract/option-table.ts';
import type { LockOptions } from '../core/contract/options.ts';
import { type Terms, withWaitUntil } from '../core/contract/terms.ts';
import { type HeldLease, heldLease } from '../core/holds/held-lease.ts';
import type { AnyLease } from '../core/holds/lease.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { type Lock, LockObject, type Target } from './lock.ts';
import { MultiLease } from './multi-lease.ts';
import { WaitAbort } from './wait-abort.ts';

/** Several locks as one: all or none. */
export type MultiLock = Lock<MultiLease>;

/**
 * Several locks, all or none: taken one after the other in the order of their names, which every process shares, so that no
 * two callers wait for each other; under one deadline; those already had are renewed meanwhile, and given back together.
 * @internal
 */
export function multiLock(
  runtime: LockRuntime,
  parts: readonly LockObject<AnyLease, LockOptions>[],
  defaults: LayeredOptions,
  given?: LockOptions,
): MultiLock {
  const foreign = parts.find((part) => !part.isOf(runtime));
  if (foreign)
    throw new LockError(
      'LOCK_INVALID',
      `all() was given a lock of ${JSON.stringify(foreign.target.name)} that other Locks made; give it keys, or locks of its own Locks`,
      { key: foreign.target.name },
    );
  // Of locks that are several themselves, the parts: as a whole they would stand out of the order.
  const sorted = parts.flatMap(({ target }) => target.parts ?? [target]).sort((a, b) => (a.name < b.name ? -1 : 1));
  const twin = sorted.find((part, i) => part.name === sorted[i + 1]?.name);
  if (twin)
    throw new LockError('LOCK_INVALID', `all() was given the key ${JSON.stringify(twin.name)} twice`, {
      key: twin.name,
    });
  if (sorted.length === 0) throw new LockError('LOCK_INVALID', 'all() was given no keys');
  const { clock } = runtime.engine;

  async function take(terms: Terms): Promise<MultiLease | undefined> {
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
        const lease = await part.take(rest, undefined);
        if (!lease) break;
        const held = heldLease(lease);
        leases.push(held);
        abort.onLossOf(held);
        for (const had of leases) had.assertHeld(); // one may be lost while the rest is waited for
      }
      if (leases.length === sorted.length) return new MultiLease(leases);
    } catch (error) {
      await undo(leases);
      throw abort.loss ?? error;
    }
    await undo(leases);
    return undefined;
  }

  const target: Target<MultiLease, LockOptions> = {
    name: sorted.map(({ name }) => name).join(', '),
    parts: sorted,
    lockOptions: (options) => options,
    take,
    inside: (lease, fn) =>
      sorted.reduceRight<() => Promise<unknown>>(
        (inner, part, i) => () => part.inside(lease.parts[i]!, inner),
        async () => fn(lease),
      )() as ReturnType<Target<MultiLease, LockOptions>['inside']> as never,
  };
  return new LockObject(runtime, target, defaults, given);
}

/** At once, as a release. */
const undo = (leases: readonly HeldLease[]): Promise<unknown> => Promise.all(leases.map((lease) => lease.undo()));
