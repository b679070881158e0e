import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type LeaderEvent } from '../../src/index.ts';
import { leaderChannels } from '../../src/leading/events.ts';

test.each([
  'settled',
  'failed',
])('a term that has %s keeps that reason when resign() comes during its release', async (why) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const slow = around(engine, {
    release: async (...args) => {
      await new Promise<void>((resolve) => clock.after(1_000, resolve));
      return engine.release(...args);
    },
  });
  const leader = createLocks(slow, { clock }).leader('l', { autoCampaign: false });
  const reasons: unknown[] = [];
  const hear = (event: unknown) => void reasons.push((event as LeaderEvent).why);
  leaderChannels.termEnded.subscribe(hear);
  let aborted: boolean | undefined;
  const run = leader.run(async ({ signal }) => {
    signal.addEventListener('abort', () => (aborted = true));
    if (why === 'failed') throw new Error('it failed');
  });
  const ran = run.then(
    () => 'settled',
    () => 'failed',
  );
  await clock.advance(500);
  const resigned = leader.resign();
  await clock.advance(1_000);
  leaderChannels.termEnded.unsubscribe(hear);
  expect([await resigned, await ran, reasons, aborted]).toEqual([true, why, [why], undefined]);
});
