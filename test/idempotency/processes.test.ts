import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import type { Part } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { FRAMEWORKS } from './frameworks.ts';
import type { ServerCalls } from './server.worker.ts';

type Site = { readonly url: string } & AsyncDisposable;

async function file(): Promise<Site> {
  const folder = temporaryFolder();
  return { url: `file:${join(folder.path, 'locks.db')}`, [Symbol.asyncDispose]: async () => folder[Symbol.dispose]() };
}

const SITES: readonly [string, Part | readonly Part[], () => Promise<Site>][] = [
  ['Redis', 'redis', startRedis],
  ['a file', 'file', file],
];
const TTL = 1_500;
const order = (id: string, act = 'pay') => ({ act, id });

async function post(url: string, key: string, body: object) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const response = await fetch(`${url}/payments`, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    status: response.status,
    replayed: response.headers.get('idempotent-replayed'),
    text: await response.text(),
  };
}

for (const [name, part, open] of SITES) {
  describeOn(part, `Idempotency-Key in two processes on ${name}`, () => {
    let site: Site;
    beforeAll(async () => {
      site = await open();
    }, 60_000);
    afterAll(() => site[Symbol.asyncDispose]());

    const start = (): Promise<WorkerProcess<ServerCalls>> =>
      startWorker(new URL('server.worker.ts', import.meta.url), { env: { URL: site.url } });

    test.each(
      Object.keys(FRAMEWORKS),
    )('%s: one of them runs a request, and both answer it; after a kill in the middle it runs again, with a higher token', {
      timeout: 60_000,
    }, async (framework) => {
      await using first = await start();
      await using second = await start();
      const urls = await Promise.all([first, second].map((process) => process.call('start', framework, TTL)));
      const [one, other] = urls as [string, string];
      const [key, id] = [randomUUID(), randomUUID()];
      const all = await Promise.all(Array.from({ length: 10 }, (_, i) => post(urls[i % 2]!, key, order(id))));
      expect(new Set(all.map(({ status, text }) => `${status} ${text}`)), 'one answer').toHaveLength(1);
      expect((await first.call('runs')) + (await second.call('runs')), 'runs').toBe(1);
      expect((await post(other, key, order('of another'))).status).toBe(422);

      const slow = randomUUID();
      const lost = post(one, slow, order(slow, 'slow')).catch(() => 'lost');
      const before = (await first.nextEvent(`begun ${slow}`)) as bigint;
      expect((await post(other, slow, order(slow, 'slow'))).status, 'while the other one runs it').toBe(409);
      await first.kill();
      expect(await lost).toBe('lost');
      const answers: number[] = [];
      const again = (async () => {
        for (;;) {
          const answer = await post(other, slow, order(slow, 'slow'));
          answers.push(answer.status);
          if (answer.status !== 409) return answer;
        }
      })();
      expect((await second.nextEvent(`begun ${slow}`, 30_000)) as bigint).toBeGreaterThan(before);
      await second.call('end', slow);
      expect(await again).toMatchObject({ status: 201 });
      expect(await post(other, slow, order(slow, 'slow')), answers.join()).toMatchObject({
        status: 201,
        replayed: 'true',
      });
    });
  });
}

describeOn('redis', 'Idempotency-Key without its engine', () => {
  test('nothing runs, and the client is told to come again', { timeout: 60_000 }, async () => {
    await using site = await startRedis();
    await using process = await startWorker<ServerCalls>(new URL('server.worker.ts', import.meta.url), {
      env: { URL: site.url },
    });
    const url = await process.call('start', 'Express', TTL);
    expect((await post(url, randomUUID(), order('before'))).status).toBe(201);
    await site.stop();
    await until('it is refused', async () => (await post(url, randomUUID(), order('while'))).status === 503, 20_000);
    expect(await process.call('runs')).toBe(1);
  });
});
