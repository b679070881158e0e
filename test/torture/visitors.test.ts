/** Where expires are observed: what a process held that was killed, and commands that come later, each for a fourth of the lease. */
import { expect, test } from 'vitest';
import { Desk } from '../cli/shell.ts';
import type { HolderCalls } from '../connect/holder.worker.ts';
import { startWorker } from '../kit/processes.ts';
import { ALL_SITES } from '../kit/sites.ts';
import { describeOn } from '../kit/suite.ts';

/** ms. Long enough that the starts, the proofs of a store and its slow requests take little of each wait: in that time nothing is watched. */
const TTL = 12_000;
/** As many as fit into two leases, besides their starts and their requests. */
const VISITS = 8;

for (const name of ['nats', 'nats-cluster', 's3', 'dynamodb'] as const) {
  const { engine, start } = ALL_SITES[name];
  describeOn(engine, `on ${name}`, () => {
    test('what a killed process held is free after two leases of waiting, however short each wait is', {
      timeout: 120_000,
    }, async () => {
      await using site = await start();
      const file = new URL('../connect/holder.worker.ts', import.meta.url);
      await using holder = await startWorker<HolderCalls>(file, { env: { URL: site.url } });
      await holder.call('hold', 'job', TTL);
      await holder.kill();
      const killed = performance.now();
      using desk = new Desk();
      const codes: (number | null)[] = [];
      const limits = ['--ttl', `${TTL}ms`, '--wait', `${TTL / 4}ms`];
      while (codes.at(-1) !== 0 && codes.length < VISITS)
        codes.push((await desk.run('run', 'job', '--url', site.url, ...limits, '--', 'true')).code);
      expect(codes.at(-1), `exit codes of the visits: ${codes}`).toBe(0);
      // Taken; or, where requests are slow, no answer within so short a wait.
      expect(new Set([75, 69, ...codes.slice(0, -1)]), 'of those before').toEqual(new Set([75, 69]));
      // It had been renewed a third of the lease ago at most.
      expect(performance.now() - killed, 'ms until one had it').toBeGreaterThan(TTL / 2);
    });
  });
}
