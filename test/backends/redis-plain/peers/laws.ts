import assert from 'node:assert/strict';
import { half } from '../fleet.ts';
import { DEAD_LEASE, LONG, type Row } from './matrix.ts';
import type { Peer } from './peers.ts';

/** ms more or less of two clocks, or timers. */
const ROUNDING = 5;

const below = (what: string, ms: number, limit: number): void =>
  assert(ms < limit, `${what}: ${Math.round(ms)} ms, and not below ${Math.round(limit)}`);
const above = (what: string, ms: number, limit: number): void =>
  assert(ms > limit, `${what}: ${Math.round(ms)} ms, and not above ${Math.round(limit)}`);

/** The laws of two programs on one lock, one of which is ours. What is said of `it` holds for every peer. */
export const LAWS: readonly (readonly [law: string, check: (row: Row, peer: Peer) => void])[] = [
  ['it is refused while we hold', ({ weHold, rounds }) => assert.equal(weHold.refused, rounds)],
  ['we are refused while it holds', ({ theyHold, rounds }) => assert.equal(theyHold.refused, rounds)],
  [
    'it is in after our release, long before its wait is over',
    ({ weHold }) => below('p50', half([...weHold.took]), LONG / 2),
  ],
  [
    'we are in after its release, sooner than one that polls',
    // Each that polls asks after 10 to 250 ms. A busy machine may hold up any one; wake-ups.test.ts has a law about the middle of many.
    ({ theyHold, idle }) => below('the soonest', Math.min(...theyHold.took), Math.max(40, 12 * idle)),
  ],
  ['nobody gets in beside us while we renew for three leases', ({ besideUs }) => assert.equal(besideUs, 0)],
  ['nobody gets in beside it while it renews for three leases', ({ besideThem }) => assert.equal(besideThem, 0)],
  [
    'it is in after our death when the lease is over',
    ({ weDied }, { oversleeps }) => {
      above('since the take', weDied.sinceTake, DEAD_LEASE - ROUNDING);
      // A fault of it: an expiry wakes none of its waiters, and they look when their whole wait is over.
      if (oversleeps) above('it oversleeps', weDied.sinceKill, 0.9 * LONG);
      else below('since the take', weDied.sinceTake, DEAD_LEASE + LONG);
    },
  ],
  [
    'we are in after its death when the lease is over',
    ({ theyDied }) => {
      above('since the take', theyDied.sinceTake, DEAD_LEASE - ROUNDING);
      below('since the take', theyDied.sinceTake, DEAD_LEASE + LONG);
    },
  ],
  ['we enter our hold again, and keep it until we have left it twice', ({ weReenter }) => assert(weReenter)],
  [
    'it enters its hold again only where it says so, and then keeps it until it has left it twice',
    ({ theyReenter }, { reenters = false }) => assert.equal(theyReenter, reenters),
  ],
  ['in a race of two processes of each no section overlaps', ({ overlaps }) => assert.equal(overlaps, 0)],
  [
    'in that race every process is served',
    ({ ourSections, theirSections }) => assert(Math.min(...ourSections, ...theirSections) > 0),
  ],
];
