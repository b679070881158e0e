import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { scene, work } from './scene.ts';

/** Instances whose engine is away until the test says that it is back. */
function outage() {
  const { kept, ...rest } = scene();
  const state = { down: true };
  const backend = around(kept, {
    attempt: (claim) => (state.down ? Promise.reject(new Error('down')) : kept.attempt(claim)),
    release: (...of) => (state.down ? Promise.reject(new Error('down')) : kept.release(...of)),
  });
  return { ...rest, kept, state, backend };
}

test.each([false, true])('an engine that is away when the tick is due is asked again; retry: %s', async (retry) => {
  const { clock, instance, state, backend, tick } = outage();
  const { runs, ends, fn } = work();
  const results = ['a', 'b', 'c'].map((label) => instance(label, { backend }).once('name', tick, fn, { retry }));
  await clock.advance(20_000);
  expect(runs).toHaveLength(0);
  state.down = false;
  await clock.advance(5_000);
  expect(runs).toHaveLength(1);
  ends[0]!.resolve('');
  await clock.advance(60_000);
  expect((await Promise.all(results)).filter(({ ran }) => ran)).toHaveLength(1);
  expect(runs).toHaveLength(1);
});

test('an engine that stays away is told when the tick is late', async () => {
  const { clock, instance, backend, tick } = outage();
  const asked = instance('a', { backend }).once('name', tick, () => {});
  const told = expect(asked).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(100_000);
  await told;
});

test('a key that was granted unheard is found again, and is no other instance’s', async () => {
  const { clock, instance, kept, tick } = scene();
  let unheard = 1;
  const backend = around(kept, {
    async attempt(claim) {
      const answer = await kept.attempt(claim);
      if (unheard-- > 0) throw new Error('the answer is lost');
      return answer;
    },
  });
  const result = instance('a', { backend }).once('name', tick, () => 1);
  await clock.advance(10_000);
  expect(await result).toMatchObject({ ran: true });
});
