import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { Calls } from '../../../src/backends/register/calls.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { KeyDocument } from '../../../src/backends/register/key-document.ts';
import { QueueReader } from '../../../src/backends/register/open-queue.ts';
import { Sightings } from '../../../src/backends/register/sightings.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

const place = (beat: number, watched?: number) => ({
  id: 'a',
  beat,
  life: 100,
  ...(watched !== undefined && { watched }),
});

describe('what is known of a sign of life', () => {
  const left = (sightings: Sightings, beat: number, now: number): number =>
    sightings.by('k', now).remaining(place(beat));

  test('counts from when it was first seen, and anew with the next one', () => {
    const sightings = new Sightings();
    sightings.see('k', [place(1)], 1_000);
    sightings.see('k', [place(1)], 1_040);
    expect(left(sightings, 1, 1_060)).toBe(40);
    sightings.see('k', [place(2)], 1_060);
    expect(left(sightings, 2, 1_070)).toBe(90);
  });

  test('what others watched before is added to what passes after it was read', () => {
    const sightings = new Sightings();
    sightings.see('k', [place(1, 70)], 1_000);
    expect([1_000, 1_020, 1_030].map((now) => left(sightings, 1, now))).toEqual([30, 10, 0]);
  });

  test('what others watched at the same time is not added: the longer watch counts', () => {
    const sightings = new Sightings();
    sightings.see('k', [place(1)], 1_000);
    sightings.see('k', [place(1, 40)], 1_050); // another one came 10 ms later, and left now
    expect(left(sightings, 1, 1_050)).toBe(50);
    sightings.see('k', [place(1, 80)], 1_060); // one that was there before
    expect(left(sightings, 1, 1_060)).toBe(20);
  });

  test('of what others tell of another sign of life nothing counts', () => {
    const sightings = new Sightings();
    sightings.see('k', [place(1, 90)], 1_000);
    sightings.see('k', [place(2, 10)], 1_005);
    expect(left(sightings, 2, 1_005)).toBe(90);
    expect(left(sightings, 1, 1_005), 'an old state, which is seen late').toBe(100);
  });
});

const claim = (key: string, id: string, ttl: number) => ({
  ...{ key, id, ...EXCLUSIVE, ttl, queue: false, tokenCount: 1, within: 60_000, label: id },
});

const open = (all = shared(), clock = manualClock()) => ({
  all,
  clock,
  /** A process that takes these keys, and ends without a word. */
  async dies(...keys: string[]): Promise<void> {
    const backend = register(memoryStore(all, { clock }), { clock });
    for (const key of keys)
      expect(await backend.attempt(claim(key, `dead ${key}`, 10_000))).toMatchObject({ granted: true });
  },
  locks: () => createLocks(register(memoryStore(all, { clock }), { clock }), { clock, ttl: 10_000 }),
});

test('processes that wait for a tenth of a lease each free what a dead process held in two leases', async () => {
  const { clock, locks, dies } = open();
  const over = <T>(act: Promise<T>): Promise<T> => stepUntilEnd(act, () => clock.advance(10));
  await dies('k');
  const died = clock.now();
  for (;;) {
    const process = locks();
    const got = await over(
      process
        .mutex('k')
        .acquire({ wait: 1_000 })
        .catch(() => undefined),
    );
    await over(process.close());
    if (got) break;
    expect(clock.now() - died, 'ms since the death').toBeLessThan(20_000);
  }
  expect(clock.now() - died, 'ms since the death').toBeGreaterThanOrEqual(10_000);
});

test('a process that goes round among 11,000 keys of the dead has all of them the second time', {
  timeout: 60_000,
}, async () => {
  const { clock, locks, dies } = open();
  const keys = Array.from({ length: 11_000 }, (_, n) => `k${n}`);
  const over = <T>(act: Promise<T>): Promise<T> => stepUntilEnd(act, () => clock.advance(1));
  await dies(...keys);
  const process = locks();
  const round = async (): Promise<number> => {
    let got = 0;
    for (const key of keys) if (await process.mutex(key).tryAcquire()) got++;
    return got;
  };
  expect(await over(round())).toBe(0);
  await clock.advance(10_000);
  expect(await over(round())).toBe(keys.length);
});

test('a claim that expired and comes again under the same id is alive, also for who saw it long ago', async () => {
  const { all, clock } = open();
  const [slow, watcher, other] = [0, 1, 2].map(() => register(memoryStore(all, { clock }), { clock }));
  expect(await slow!.attempt(claim('k', 'a', 1_000))).toMatchObject({ granted: true });
  expect(await watcher!.attempt(claim('k', 'b', 1_000))).toMatchObject({ granted: false });
  expect(await other!.attempt(claim('k', 'c', 1_000))).toMatchObject({ granted: false });
  await clock.advance(1_000);
  // Its process stood still: another one takes over, and is done; then the first asks again, as after an answer that was lost.
  expect(await other!.attempt(claim('k', 'c', 1_000))).toMatchObject({ granted: true });
  await other!.release({ key: 'k', id: 'c' });
  expect(await slow!.attempt(claim('k', 'a', 1_000))).toMatchObject({ granted: true });
  expect(await watcher!.attempt(claim('k', 'b', 1_000)), 'in the lease of another').toMatchObject({ granted: false });
});

describe('what a process saw of a dead hold, in a store that tells of conflicts', () => {
  /** A process that uses so many keys that it has dropped what it knew of this one, each time it asks. */
  async function forgetful() {
    const { all, clock, dies } = open();
    await dies('k');
    const store = memoryStore(all, { clock });
    const telling: RegisterStore = {
      ...store,
      tellsConflicts: true,
      async write(key, ...rest) {
        return (await store.write(key, ...rest)) || (all.entries.get(key) ?? {});
      },
    };
    const [name, document] = [...all.entries].find(([key]) => key.includes('/l/'))!;
    const sightings = new Sightings();
    const reader = () => new QueueReader('k', name, new Calls(telling, 'holdfast', clock), sightings);
    const asks = () => new KeyDocument(reader()).take({}, (queue) => queue.attempt(claim('k', 'b', 10_000)).granted);
    expect(await asks(), 'a grant beside a hold that may be alive').toBe(false);
    return { all, clock, name, document, reader, asks };
  }

  test('counts also after a guess that the key has no document', async () => {
    const { clock, asks } = await forgetful();
    await clock.advance(10_000);
    expect(await asks(), 'a grant after a whole ttl in which the hold gave no sign of life').toBe(true);
  });

  test('is forgotten once a read finds no document', async () => {
    const { all, clock, name, document, reader, asks } = await forgetful();
    await clock.advance(10_000);
    all.entries.delete(name);
    await reader().read();
    all.entries.set(name, document);
    expect(await asks(), 'a grant on what was seen before the document was gone').toBe(false);
  });
});
