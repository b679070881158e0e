import { expect, test } from 'vitest';
import type { TestCalls } from './processes.test.worker.ts';
import { startWorker, type WorkerProcess } from './processes.ts';
import { until } from './wait.ts';

const file = new URL('./processes.test.worker.ts', import.meta.url);
const start = (): Promise<WorkerProcess<TestCalls>> => startWorker<TestCalls>(file);

test('calls a process of its own, under the same Node', async () => {
  await using worker = await start();
  expect(worker.pid).not.toBe(process.pid);
  expect(await worker.call('version')).toBe(process.version);
  expect(await worker.call('double', 2n ** 70n)).toBe(2n ** 71n);
});

test('an error keeps its name and its code on the way', async () => {
  await using worker = await start();
  const error = { name: 'LockError', message: 'no', code: 'LOCK_TIMEOUT' };
  await expect(worker.call('fail')).rejects.toMatchObject(error);
});

test('events come in order, each once', async () => {
  await using worker = await start();
  await worker.call('tick', 3);
  expect([await worker.nextEvent('tick'), await worker.nextEvent('tick'), await worker.nextEvent('tick')]).toEqual([
    0, 1, 2,
  ]);
  await expect(worker.nextEvent('tick', 20)).rejects.toThrow("tells 'tick': not within 20 ms");
  await worker.call('tick', 1);
  expect(await worker.nextEvent('tick')).toBe(0);
});

test('does nothing while paused, and goes on afterwards', async () => {
  await using worker = await start();
  worker.pause();
  const answer = worker.call('double', 1n);
  const first = await Promise.race([answer, worker.nextEvent('nothing', 50).catch(() => 'silence')]);
  expect(first).toBe('silence');
  worker.resume();
  expect(await answer).toBe(2n);
});

test('kill −9 fails the calls in flight, and is not held against it', async () => {
  await using worker = await start();
  const answer = expect(worker.call('never')).rejects.toThrow('ended by SIGKILL');
  await worker.kill();
  await answer;
  await expect(worker.call('version')).rejects.toThrow('ended by SIGKILL');
});

test('a death that nobody asked for fails the test, with what the worker printed', async () => {
  const worker = await start();
  await worker.call('crash');
  await until('its death', async () =>
    worker.call('version').then(
      () => false,
      () => true,
    ),
  );
  await expect(worker[Symbol.asyncDispose]()).rejects.toThrow(/ended with exit code 1.*about to crash.*crashed/s);
});

test('a file that cannot run says so', async () => {
  const started = startWorker(new URL('./no-such-worker.ts', import.meta.url));
  await expect(started).rejects.toThrow(/ended with exit code 1.*no-such-worker/s);
});
