import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';

/** The threads that were made, and how many more the system refuses. */
const system = { made: [] as EventEmitter[], asked: 0, refusals: 0 };

class Thread extends EventEmitter {
  constructor() {
    super();
    system.asked++;
    if (system.refusals-- > 0) throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    system.made.push(this);
    setImmediate(() => this.emit('message', { ready: true }));
  }

  postMessage(message: object): void {
    if ('end' in message) setImmediate(() => this.emit('exit'));
  }

  ref(): void {}
  unref(): void {}

  async terminate(): Promise<void> {
    this.emit('exit');
  }
}

vi.mock('node:worker_threads', () => ({ Worker: Thread }));
const { WorkerStandIn } = await import('../../src/connect/renewal/worker-stand-in.ts');
afterEach(() => vi.useRealTimers());

test('a thread that died is replaced by one, also when the system refuses several times to make it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const standIn = await WorkerStandIn.begin('redis://127.0.0.1', 10_000);
  system.refusals = 2;
  system.made[0]!.emit('exit');
  await vi.advanceTimersByTimeAsync(2_500);
  expect([system.asked, system.made.length], 'tries and threads before the system has room again').toEqual([3, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(system.made.length, 'threads after it').toBe(2);
  system.made[1]!.emit('exit');
  await vi.advanceTimersByTimeAsync(1_000);
  expect([system.asked, system.made.length], 'tries and threads after one more death').toEqual([5, 3]);
  await standIn.end();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(system.asked, 'tries after its end').toBe(5);
});

test('no thread is made once a stand-in has ended between two tries', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const standIn = await WorkerStandIn.begin('redis://127.0.0.1', 10_000);
  system.refusals = 1;
  system.made.at(-1)!.emit('exit');
  await vi.advanceTimersByTimeAsync(1_000);
  const { asked } = system;
  await standIn.end();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(system.asked, 'tries after its end').toBe(asked);
});
