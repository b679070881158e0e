import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../examples/program.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { until } from '../kit/wait.ts';
import type { AppCalls } from './app/main.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Inside the project, so that the packages are found from there.
const compiled = join(root, '.tmp', `nestjs-app-${process.pid}`);

beforeAll(async () => {
  mkdirSync(compiled, { recursive: true });
  await promisify(execFile)(program('tsc'), [
    '-p',
    `${root}test/nestjs/app`,
    '--noEmit',
    'false',
    '--outDir',
    compiled,
  ]);
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));

type App = WorkerProcess<AppCalls>;
const start = (url: string): Promise<App> =>
  startWorker<AppCalls>(pathToFileURL(join(compiled, 'test/nestjs/app/main.js')), { env: { URL: url } });

/** Hands on what an instance tells, until it ends. */
async function follow<T>(app: App, event: string, heard: (value: T) => void): Promise<void> {
  try {
    for (;;) heard((await app.nextEvent(event, 60_000)) as T);
  } catch {
    // It has ended.
  }
}

test('three instances, one of them killed and one closed: each tick is run once, one leads, and it settles before connections close', {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const url = `file:${join(folder.path, 'locks.db')}`;
  const ticks: number[] = [];
  const terms: { app: App; token: bigint }[] = [];
  const followed: Promise<void>[] = [];
  const begin = async (): Promise<App> => {
    const app = await start(url);
    followed.push(follow<number>(app, 'ran', (tick) => ticks.push(tick)));
    followed.push(follow<bigint>(app, 'leads', (token) => terms.push({ app, token })));
    return app;
  };
  const more = (count: number): Promise<void> => {
    const goal = ticks.length + count;
    return until(`${count} more ticks`, () => ticks.length >= goal);
  };
  const leads = (count: number): Promise<void> => until(`leader ${count}`, () => terms.length >= count);

  await using first = await begin();
  await leads(1);
  await using second = await begin();
  await using third = await begin();
  await more(1);
  await first.kill();
  await leads(2);
  const next = terms[1]!.app;
  const last = next === second ? third : second;
  expect(await Promise.all([next, last].map((app) => app.call('grab', 42)))).toEqual([true, true]);
  expect(await next.call('health')).toMatchObject({ locks: { status: 'up', leading: ['feed'] } });
  expect(await last.call('health')).toMatchObject({ locks: { status: 'up', leading: [] } });
  await more(2);
  await next.call('close');
  expect([await next.nextEvent('note'), await next.nextEvent('note')]).toEqual(['settled', 'connection closed']);
  await leads(3);
  await more(1);
  await Promise.all([next, last].map((app) => app.end('SIGKILL')));
  await Promise.all(followed);
  expect(terms.map(({ app }) => app)).toEqual([first, next, last]);
  expect(terms.map(({ token }) => token)).toEqual(terms.map(({ token }) => token).sort((a, b) => (a < b ? -1 : 1)));
  const [earliest] = ticks.sort() as [number];
  expect(ticks).toEqual(ticks.map((_, i) => earliest + i * 2_000));
});
