/** A client may send a release again that was carried out, as after a reconnect: the second one frees nothing. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { loaded } from './loaded.ts';

async function processes(looks: () => void = () => {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  const twice = around(engine, {
    store: async (handle, value) => {
      await engine.store!(handle, value);
      return engine.store!(handle, value);
    },
    values: {
      forget: (key) => engine.values!.forget(key),
      look: async (key) => {
        looks();
        return engine.values!.look(key);
      },
    },
  });
  const [one, other] = [twice, engine].map((each) => createLocks(each, { clock, ttl: 3_000 }));
  for (const each of [one!, other!]) await loaded(each);
  return { clock, engine, one: one!, other: other! };
}

test.each([
  '1h',
  5,
  0,
] as const)('what was left by the first of two sendings is kept, as others find it (keep %s)', async (keep) => {
  const { clock, one, other } = await processes();
  const work = Promise.withResolvers<string>();
  const runs = one.memo<string>('key', { keep }).run(() => work.promise);
  await clock.advance(10);
  const waits = other.memo<string>('key', { keep }).run(() => 'again');
  await clock.advance(10);
  work.resolve('made');
  await clock.advance(3_000);
  expect(await waits).toMatchObject({ value: 'made', ran: false });
  expect(await runs).toMatchObject({ value: 'made', ran: true, kept: true });
});

test('where nobody can look who did it, that is unknown', async () => {
  const { clock, one } = await processes(() => {
    throw new Error('away');
  });
  const runs = one.memo<string>('key').run(() => 'made');
  await clock.advance(20_000);
  expect(await runs).toMatchObject({ value: 'made', kept: 'unknown' });
});
