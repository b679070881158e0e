import { LockError } from '../core/contract/errors.ts';
import { nextNumber } from '../core/contract/events.ts';
import { type LayeredOptions, type LockOptions, type ResolvedOptions, restOf } from '../core/contract/options.ts';
import type { AnyLease, HeldLease } from '../core/holds/lease.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { type Lock, LockObject, type Taking } from './lock.ts';
import { MultiLease } from './multi-lease.ts';
import { Stop } from './stop.ts';

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
  options: LayeredOptions,
): MultiLock {
  const foreign = parts.find((part) => !part.isOf(runtime));
  if (foreign)
    throw new LockError(
      'LOCK_INVALID',
      `all() was given a lock of ${JSON.stringify(foreign.taking.name)} that other Locks made; give it keys, or locks of its own Locks`,
      { key: foreign.taking.name },
    );
  // Of locks that are several themselves, the parts: as a whole they would stand out of the order.
  const sorted = parts.flatMap(({ taking }) => taking.parts ?? [taking]).sort((a, b) => (a.name < b.name ? -1 : 1));
  const twin = sorted.find((part, i) => part.name === sorted[i + 1]?.name);
  if (twin)
    throw new LockError('LOCK_INVALID', `all() was given the key ${JSON.stringify(twin.name)} twice`, {
      key: twin.name,
    });
  if (sorted.length === 0) throw new LockError('LOCK_INVALID', 'all() was given no keys');
  const { clock } = runtime.engine;

  async function obtain(resolved: ResolvedOptions): Promise<MultiLease | undefined> {
    const until = clock.now() + resolved.wait;
    const leases: AnyLease[] = [];
    const all = nextNumber('requests');
    using stop = new Stop(resolved.signal);
    try {
      for (const part of sorted) {
        const rest = {
          ...restOf(resolved, until, clock.now()),
          signal: stop.signal,
          all,
          beside: leases as HeldLease[],
        };
        const lease = await part.obtain(rest, undefined);
        if (!lease) break;
        leases.push(lease);
        stop.onLossOf(lease as HeldLease);
        for (const had of leases) had.assertHeld(); // one may be lost while the rest is waited for
      }
      if (leases.length === sorted.length) return new MultiLease(leases);
    } catch (error) {
      await undone(leases);
      throw stop.loss ?? error;
    }
    await undone(leases);
    return undefined;
  }

  const taking: Taking<MultiLease, LockOptions> = {
    name: sorted.map(({ name }) => name).join(', '),
    parts: sorted,
    lockOptions: (options) => options,
    obtain,
    inside: (lease, fn) =>
      sorted.reduceRight<() => Promise<unknown>>(
        (inner, part, i) => () => part.inside(lease.parts[i]!, inner),
        async () => fn(),
      )() as ReturnType<Taking<MultiLease, LockOptions>['inside']> as never,
  };
  return new LockObject(runtime, taking, options);
}

/** At once, as a release. */
const undone = (leases: readonly AnyLease[]): Promise<unknown> =>
  Promise.all(leases.map((lease) => (lease as HeldLease).undo()));
