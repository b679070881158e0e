import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { LockEvent, Locks } from '../../src/index.ts';

const OUTCOMES = ['acquired', 'handed-over', 'reentered', 'answered', 'refused', 'timed-out', 'aborted', 'failed'];
const WAITS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const MARGINS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300];
const OF = ['lock_backend', 'lock_kind', 'lock_type'];

/** Metrics of these locks in `registry`; gives what ends it. `kindOf`: few different texts, since each is a series. */
export function measureLocks(locks: Locks, registry: Registry, kindOf = (key: string) => key.split(':')[0]!) {
  const registers = [registry];
  const about = { registers, labelNames: OF };
  const withOutcome = { registers, labelNames: [...OF, 'lock_outcome', 'error_type'] };
  const wait = new Histogram({
    name: 'lock_wait_duration_seconds',
    help: 'Request to end.',
    buckets: WAITS,
    ...withOutcome,
  });
  const hold = new Histogram({
    name: 'lock_hold_duration_seconds',
    help: 'Grant to end.',
    buckets: [...WAITS, 900, 3_600],
    ...withOutcome,
  });
  const margin = new Histogram({
    name: 'lock_renewal_margin_seconds',
    help: 'Left of the lease.',
    buckets: MARGINS,
    ...about,
  });
  const requests = new Counter({ name: 'lock_requests_total', help: 'Requests that ended.', ...withOutcome });
  const lost = new Counter({ name: 'lock_lost_total', help: 'Holds that were lost.', ...about });
  const failures = new Counter({ name: 'lock_renewal_failures_total', help: 'Renewals not confirmed.', ...about });
  const ofMemo = { registers, labelNames: [...OF, 'lock_memo_state'] };
  const stored = new Counter({ name: 'lock_memo_stored_total', help: 'What runs left to be kept.', ...ofMemo });
  const waiting = new Gauge({ name: 'lock_waiting', help: 'Requests that wait now.', ...about });
  const held = new Gauge({ name: 'lock_held', help: 'Holds that last now.', ...about });

  const waits = new Set<number>();
  const holds = new Set<number>();
  const of = ({ backend, key, type }: LockEvent) => ({
    lock_backend: backend,
    lock_kind: kindOf(key),
    lock_type: type,
  });

  function ended(event: LockEvent, outcome: string): void {
    if (waits.delete(event.request)) waiting.dec(of(event));
    if (outcome === 'acquired' || outcome === 'handed_over') {
      holds.add(event.request);
      held.inc(of(event));
    }
    const code = outcome === 'failed' && { error_type: (event.error as { code?: string }).code ?? '_OTHER' };
    const labels = { ...of(event), lock_outcome: outcome, ...code };
    wait.observe(labels, event.duration! / 1_000);
    requests.inc(labels);
  }

  function over(event: LockEvent, outcome: string): void {
    if (!holds.delete(event.request)) return; // it was told as lost, and is released now
    held.dec(of(event));
    hold.observe({ ...of(event), lock_outcome: outcome }, event.duration! / 1_000);
  }

  const listeners: Record<string, (event: LockEvent) => void> = {
    waiting(event) {
      waits.add(event.request);
      waiting.inc(of(event));
    },
    released: (event) => over(event, 'released'),
    lost(event) {
      lost.inc(of(event));
      over(event, 'lost');
    },
    renewed: (event) => Number.isFinite(event.margin) && margin.observe(of(event), event.margin! / 1_000),
    'renewal-failed': (event) => failures.inc(of(event)),
    left: (event) => stored.inc({ ...of(event), lock_memo_state: event.state! }),
  };
  for (const name of OUTCOMES) listeners[name] = (event) => ended(event, name.replace('-', '_'));

  const ends = Object.entries(listeners).map(([name, listener]) => {
    const heard = (message: unknown) => {
      if ((message as LockEvent).locks === locks.number) listener(message as LockEvent);
    };
    subscribe(`holdfast:${name}`, heard);
    return () => unsubscribe(`holdfast:${name}`, heard);
  });
  return () => {
    for (const end of ends) end();
  };
}
