import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';
import { claim } from './claim.ts';

const YEAR_MS = 31_536_000_000;

/** A store that refuses a text above 256 kB, as a bucket of NATS may. */
function smallStore(...given: Parameters<typeof memoryStore>): RegisterStore & { longest: number } {
  const store = memoryStore(...given);
  return {
    ...store,
    longest: 0,
    async write(key, text, ...rest) {
      this.longest = Math.max(this.longest, Buffer.byteLength(text));
      if (this.longest > 262_144) throw new Error(`the text has ${this.longest} bytes`);
      return store.write(key, text, ...rest);
    },
  };
}

test.each([
  false,
  true,
])('a full queue takes no further claim, so its holder can renew, with a clock of the store: %s', async (tellsTime) => {
  const clock = manualClock();
  const store = smallStore(shared(), { clock, tellsTime });
  const backend = register(store, { clock });
  const holder = claim('holder', { ttl: 10_000 });
  await backend.attempt(holder);
  const waiters = Array.from({ length: 900 }, (_, n) => claim(`${n}`, { label: 'é'.repeat(n % 200) }));
  const ask = () => Promise.allSettled(waiters.map((waiter) => backend.attempt(waiter)));
  await ask(); // of many claims in one write the room is estimated, so a second one finds more
  const refused = (await ask()).filter(({ status }) => status === 'rejected');
  expect(refused.length, 'waiters that were refused').toBeGreaterThan(100);
  expect(refused.length, 'more than two thirds have room').toBeLessThan(300);
  expect(refused[0]).toMatchObject({ reason: { message: expect.stringContaining('no room for one more claim') } });
  expect(refused[0]).not.toMatchObject({ reason: { name: 'LockError' } });
  const others = register(store, { clock }); // it writes for how long it has seen no sign of life of each claim
  for (let time = 0; time < 8; time++) {
    await clock.advance(2_000);
    const renewed = (time % 2 ? backend : others).renew([{ ...holder, ttl: YEAR_MS }]);
    const signs = ask();
    await clock.advance(1);
    expect(await renewed).toMatchObject([{ validFor: YEAR_MS }]);
    await signs;
  }
  expect(store.longest, 'bytes of the longest text').toBeGreaterThan(200_000);
  expect(await backend.attempt(claim('hasty', { queue: false })), 'a try, which never joins').toMatchObject({
    granted: false,
  });
  expect(await backend.release({ key: 'k', id: 'holder' })).toEqual({ freed: true });
});
