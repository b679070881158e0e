import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Locks } from '../../../src/index.ts';
import { started } from '../../examples/program.ts';
import { type Folder, temporaryFolder } from '../../kit/folder.ts';
import { settleWithin } from '../../kit/wait.ts';
import { example, type Found, found, moduleOf } from '../block.ts';
import { orders, queue } from './service.ts';

const service = new URL('./service.ts', import.meta.url).href;

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
  vi.stubEnv('HOLDFAST_URL', `file:${folder.path}/locks.db`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

const ONE_WINNER = [201, ...Array<number>(9).fill(409)];
const data = (): string => `${folder.path}/data.db`;

/** A program of the block and of what its reader brings. */
async function program(block: Found, names: readonly string[], start: string): Promise<string> {
  const module = await moduleOf(block, names);
  const file = module.replace(/\.mjs$/, '.main.mjs');
  const first = `import example from ${JSON.stringify(module)};\nimport * as service from ${JSON.stringify(service)};\n`;
  writeFileSync(file, first + start);
  return file;
}

test.each([
  ['Express', found('docs/guides/frameworks.md', 'Express'), 'server'],
  ['Fastify', found('docs/guides/frameworks.md', 'Fastify'), 'app.server'],
])('%s: of ten who want one order from two instances, one has it; SIGTERM ends both', async (_name, block, server) => {
  const file = await program(
    block,
    ['grabOrder'],
    `const { server, app } = await example({ grabOrder: service.orders(${JSON.stringify(data())}) });
     if (!${server}.listening) await new Promise((resolve) => ${server}.once('listening', resolve));
     console.log('listening on http://127.0.0.1:' + ${server}.address().port);`,
  );
  await using one = await started([file]);
  await using other = await started([file]);
  const grabs = Array.from({ length: 10 }, (_, i) =>
    fetch(`${[one, other][i % 2]!.url}/orders/42/grab?driver=${i}`, { method: 'POST' }),
  );
  expect((await Promise.all(grabs)).map(({ status }) => status).sort()).toEqual(ONE_WINNER);
  expect(await Promise.all([one.ended('SIGTERM'), other.ended('SIGTERM')])).toEqual([0, 0]);
});

test('Next: of ten requests for one order, one has it', async () => {
  const { POST } = await example('docs/guides/frameworks.md', 'Next: a route handler')({ grabOrder: orders(data()) });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => {
      const request = new Request(`http://localhost/api/orders/42/grab?driver=${i}`, { method: 'POST' });
      return POST(request, { params: Promise.resolve({ id: '42' }) }) as Promise<Response>;
    }),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual(ONE_WINNER);
  await (await (globalThis as unknown as { keptLocks: Promise<Locks> }).keptLocks).close();
});

test('Next: a first request that finds no engine is told so, and the next one gets its locks', async () => {
  Reflect.deleteProperty(globalThis, 'keptLocks');
  const { POST } = await example('docs/guides/frameworks.md', 'Next: a route handler')({ grabOrder: orders(data()) });
  const grab = () =>
    POST(new Request('http://localhost/api/orders/42/grab?driver=1', { method: 'POST' }), {
      params: Promise.resolve({ id: '42' }),
    }) as Promise<Response>;
  const url = process.env.HOLDFAST_URL!;
  vi.stubEnv('HOLDFAST_URL', `file:${folder.path}/not-there/locks.db`);
  expect((await grab()).status).toBe(503);
  vi.stubEnv('HOLDFAST_URL', url);
  expect((await grab()).status).toBe(201);
  await (await (globalThis as unknown as { keptLocks: Promise<Locks> }).keptLocks).close();
});

test('a worker: two of them do all jobs, also those that failed once, those of one account one after the other, with growing tokens', async () => {
  const jobs = queue(data());
  jobs.add(Array.from({ length: 24 }, (_, i) => `account ${i % 2}`));
  const file = await program(
    found('docs/guides/frameworks.md', 'A worker'),
    ['nextJob', 'work', 'giveBack'],
    `await example(service.queue(${JSON.stringify(data())}));`,
  );
  const workers = [1, 2].map(() => spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'inherit'] }));
  const codes = workers.map(async (worker) => (await settleWithin('a worker ends', once(worker, 'exit')))[0]);
  expect(await Promise.all(codes)).toEqual([0, 0]);
  const done = jobs.done();
  expect(done).toHaveLength(24);
  for (const name of ['account 0', 'account 1']) {
    const own = done.filter(({ account }) => account === name);
    own.slice(1).forEach((work, i) => {
      expect(work.began > own[i]!.ended && BigInt(work.token) > BigInt(own[i]!.token)).toBe(true);
    });
  }
});
