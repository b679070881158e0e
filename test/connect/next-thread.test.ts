/** What a thread that renews knows of the other threads, also of the one before it, which died: only what they wrote into shared memory. */
import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { Conversion, CoverTable } from '../../src/connect/renewal/cover-table.ts';
import { Rounds } from '../../src/connect/renewal/rounds.ts';
import { Control, Segment } from '../../src/connect/renewal/table.ts';
import type { Backend, Renewal } from '../../src/core/contract/backend.ts';

/** A hold with a lease of 30 s that is renewed each 10 s, and threads that renew it. */
function setup() {
  const clock = manualClock();
  const shared = () => clock.now();
  const segments: Segment[] = [];
  const table = new CoverTable(new Conversion(clock, shared), (segment) => segments.push(segment));
  const schedule = { ttl: 30_000, sent: clock.now(), interval: 10_000, renewedUntil: Number.POSITIVE_INFINITY };
  const cover = table.take({ key: 'key', id: 'a'.repeat(32) }, schedule)!;
  const control = new Control();
  const thread = (renew: Backend['renew']): Rounds => {
    const rounds = new Rounds({ renew }, control, shared, 120_000);
    rounds.add(new Segment(segments[0]!.memory));
    return rounds;
  };
  return { clock, control, cover, schedule, table, thread };
}

const renews: Backend['renew'] = async (claims) => claims.map(({ ttl }): Renewal => ({ validFor: ttl }));

test('a renewal that a thread sent before it died stays in doubt, also when the next thread has renewed', async () => {
  const { clock, cover, thread } = setup();
  const late = Promise.withResolvers<Renewal[]>();
  const first = thread(() => late.promise);
  await clock.advance(12_000);
  const asked = clock.now();
  first.look();
  await settled();
  expect(cover.asking, 'while the first renewal is on its way').toBe(true);
  await clock.advance(2_000);
  thread(renews).look();
  await settled();
  expect(cover.confirmed, 'the second renewal counts').toBeGreaterThan(asked);
  expect(cover.asking, 'the first renewal may still arrive').toBe(true);
  late.resolve([]);
});

test('a thread that renews after one that died between renewals has no doubt', async () => {
  const { clock, cover, thread } = setup();
  await clock.advance(12_000);
  thread(renews).look();
  await settled();
  const { confirmed } = cover;
  await clock.advance(12_000);
  thread(renews).look();
  await settled();
  expect(cover.confirmed, 'the second renewal counts').toBeGreaterThan(confirmed!);
  expect(cover.asking, 'a renewal may be on its way').toBe(false);
});

test('a hold that fell due while the main thread seemed to hang is renewed when it is late again', async () => {
  const { clock, control, cover, schedule, thread } = setup();
  let renewals = 0;
  const rounds = thread((claims) => {
    renewals++;
    return renews(claims);
  });
  await clock.advance(125_000);
  rounds.look();
  await settled();
  expect(renewals, 'renewals while the main thread hangs').toBe(0);
  control.beat();
  cover.follow({ ...schedule, sent: clock.now() });
  await clock.advance(12_000);
  rounds.look();
  await settled();
  expect(renewals, 'renewals once the main thread is late again').toBe(1);
  expect(cover.asking, 'whether a renewal may be on its way').toBe(false);
});

test('a renewal on its way when its hold ends stays in doubt, also when another hold has the slot and is renewed', async () => {
  const { clock, cover, schedule, table, thread } = setup();
  const late = Promise.withResolvers<Renewal[]>();
  await clock.advance(12_000);
  thread(() => late.promise).look();
  await settled();
  cover.end();
  table.take({ key: 'other', id: 'b'.repeat(32) }, { ...schedule, sent: clock.now() });
  await clock.advance(12_000);
  thread(renews).look();
  await settled();
  expect(cover.asking, 'the renewal of the hold that ended may still arrive').toBe(true);
  late.resolve([]);
});
