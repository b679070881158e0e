import { setTimeout as pass } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startWorker } from '../kit/processes.ts';
import { describeOn } from '../kit/suite.ts';
import { ALL, SITES } from '../leading/sites.ts';
import type { Calls } from './processes.worker.ts';

const WORKER = new URL('./processes.worker.ts', import.meta.url);

for (const engine of ALL) {
  describeOn(engine, `two processes on ${engine}`, () => {
    test('the span of who waits is linked to the span of who holds, of another process and another trace', async () => {
      await using site = await SITES[engine]();
      const start = (label: string) => startWorker<Calls>(WORKER, { env: { ENGINE: site.url, LABEL: label } });
      await using holder = await start('reports');
      await using waiter = await start('shop');
      await holder.call('acquire', 'nightly report', 'order:42');
      const waiting = waiter.call('run', 'POST /grab', 'order:42', 1);
      await pass(400);
      await holder.call('release');
      await waiting;

      const [there, here] = [await holder.call('spans'), await waiter.call('spans')];
      const report = there.find(({ name }) => name === 'nightly report')!;
      const held = there.find(({ name }) => name === 'lock.hold order')!;
      const wait = here.find(({ name }) => name === 'lock.wait order')!;
      expect(held.parent, 'the lock is a part of the work').toBe(report.id);
      expect(wait.links, 'what was waited for').toEqual([held.id]);
      expect(wait.attributes['lock.holder']).toEqual(['reports']);
      expect(wait.trace).not.toBe(held.trace);
      expect(here.map(({ name }) => name)).toEqual(['lock.wait order', 'lock.hold order', 'lock order', 'POST /grab']);

      const waited = (await waiter.call('collected'))['lock.wait.duration{kind=order,type=mutex,outcome=acquired}'];
      expect((waited as { sum: number }).sum, 'seconds').toBeGreaterThan(0.3);
      await holder.call('close');
      await waiter.call('close');
    });
  });
}
