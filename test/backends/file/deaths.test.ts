import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { machineTime } from '../../../src/backends/file/machine.ts';
import type { Locks } from '../../../src/index.ts';
import { startWorker, type WorkerProcess } from '../../kit/processes.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import type { ClusterCalls } from './cluster.worker.ts';
import { LocksFile, length } from './locks-file.ts';
import type { FileCalls } from './worker.ts';

type Worker = WorkerProcess<FileCalls>;
type Got = Awaited<ReturnType<FileCalls['acquire']>>;

/** A waiter without a notification asks by itself after 2 s. One that is served sooner had a notification. ms. */
const TOLD = 1_500;

describeOn('file', 'a file, and processes that die or stop', () => {
  let at: LocksFile;
  let locks: Locks;
  const workers: Worker[] = [];

  beforeEach(() => {
    at = new LocksFile();
    locks = at.open();
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker[Symbol.asyncDispose]();
    await at[Symbol.asyncDispose]();
  });

  async function start(): Promise<Worker> {
    const worker = await startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
    workers.push(worker);
    await worker.call('open', at.path);
    return worker;
  }
  async function waiting(key: string): Promise<Worker> {
    const before = await length(locks, key);
    const worker = await start();
    await worker.call('wait', key);
    await until(`a new place in the line of ${key}`, async () => (await length(locks, key)) > before);
    return worker;
  }
  const got = async (worker: Worker, within?: number): Promise<Got> => (await worker.nextEvent('got', within)) as Got;

  test('a holder that is killed is replaced at once', async () => {
    const holder = await start();
    const { token } = await holder.call('acquire', 'k');
    const waiter = await waiting('k');
    const died = machineTime();
    await holder.kill();
    const next = await got(waiter);
    expect(next.at - died).toBeLessThan(TOLD);
    expect(next.token).toBeGreaterThan(token);
  });

  test('a waiter that is killed at the head of the line stalls nobody', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const head = await waiting('k');
    const next = await waiting('k');
    await head.kill();
    await holder.call('release');
    expect((await got(next, TOLD)).token).toBeGreaterThan(0n);
  });

  test('a waiter that is killed after it was admitted, before it knew, stalls nobody', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const head = await waiting('k');
    const next = await waiting('k');
    head.pause();
    await holder.call('release');
    await head.kill();
    await got(next, TOLD);
  });

  test('holder and head killed together: the third is served', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const head = await waiting('k');
    const next = await waiting('k');
    const died = machineTime();
    await Promise.all([holder.kill(), head.kill()]);
    expect((await got(next)).at - died).toBeLessThan(TOLD);
  });

  test('a process that dies between the release and the notification leaves nobody waiting', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const waiter = await waiting('k');
    await holder.call('dieBeforeRinging');
    const died = machineTime();
    await expect(holder.call('release')).rejects.toThrow('SIGKILL');
    await holder.kill();
    expect((await got(waiter)).at - died).toBeLessThan(TOLD);
  });

  test('a process that ends leaves nobody waiting, though it had just notified them', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const waiter = await waiting('k');
    const closed = machineTime();
    await holder.call('close');
    await holder.end();
    expect((await got(waiter)).at - closed).toBeLessThan(TOLD);
  });

  test('a process that ends by itself, and releases nothing, is replaced at once', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const waiter = await waiting('k');
    const ended = machineTime();
    await holder.call('finish');
    expect((await got(waiter)).at - ended).toBeLessThan(TOLD);
    await holder.end();
  });

  test('a worker of a cluster that is killed is replaced at once', async () => {
    await using cluster = await startWorker<ClusterCalls>(new URL('./cluster.worker.ts', import.meta.url));
    await cluster.call('hold', at.path, 'k');
    const waiter = await waiting('k');
    const died = machineTime();
    await cluster.call('kill');
    expect((await got(waiter)).at - died).toBeLessThan(TOLD);
  });

  test('who only attempts finds the key of a killed holder free at once', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const had = async (): Promise<boolean> => {
      const lease = await locks.mutex('k').tryAcquire();
      return (await lease?.release()) ?? false;
    };
    expect(await had()).toBe(false);
    await holder.kill();
    await until('it can be had', had, TOLD);
  });

  test('a holder that is stopped past its ttl is replaced then, and finds its lease lost', async () => {
    const holder = await start();
    const stale = await holder.call('acquire', 'k', { ttl: 600 });
    const waiter = await waiting('k');
    holder.pause();
    const fresh = await got(waiter);
    expect(fresh.at - stale.at).toBeGreaterThan(500);
    expect(fresh.token).toBeGreaterThan(stale.token);
    holder.resume();
    await until('the loss', async () => (await holder.call('lease')).lost !== undefined);
    expect(await holder.call('lease')).toEqual({ held: false, token: stale.token, lost: 'LOCK_LOST' });
    expect(await holder.call('release')).toBe(false);
    expect(await waiter.call('lease')).toMatchObject({ held: true, lost: undefined });
  });

  test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
    'the clock is one for all time namespaces (as root): who held in another is replaced when its lease is over',
    async () => {
      const [index, backend] = ['index.ts', 'backends/file/index.ts'].map((path) =>
        import.meta.resolve(`../../../src/${path}`),
      );
      const script = `
        import { createLocks } from '${index}';
        import { file } from '${backend}';
        const locks = createLocks(file({ path: '${at.path}' }));
        await locks.mutex('k').acquire({ ttl: '3s', minHold: '3s' }); // or its death alone would end it
        process.kill(process.pid, 'SIGKILL');`;
      const elsewhere = ['--time', '--monotonic', '100000', '--fork'];
      spawnSync('unshare', [...elsewhere, process.execPath, '--input-type=module', '-e', script]);
      expect(await locks.mutex('k').tryAcquire(), 'while the lease lasts').toBeNull();
      await locks.mutex('k').run(() => {}, { wait: '10s' });
    },
  );

  test('a hold with minHold outlives its process', async () => {
    const job = await start();
    await job.call('acquire', 'job', { minHold: 1_500 });
    const began = machineTime();
    await job.call('release');
    await job.kill();
    const lease = await locks.mutex('job').acquire();
    expect(machineTime() - began).toBeGreaterThan(1_300);
    await lease.release();
  });

  test('a process that is stopped inside a transaction stops no other event loop, and no longer than it lives', async () => {
    await locks.mutex('k').run(() => {});
    const stopped = await start();
    await stopped.call('enterTransaction', at.path);
    stopped.pause();
    let longest = 0;
    let last = performance.now();
    const beat = (): void => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    };
    const pulse = setInterval(beat, 5);
    try {
      await expect(locks.mutex('k').tryAcquire({ ttl: '2s' })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    } finally {
      clearInterval(pulse);
      beat();
    }
    expect(longest, 'ms: who stood still stood for two seconds').toBeLessThan(1_000);
    await stopped.kill();
    await locks.mutex('k').run(() => {});
  });

  test('the dead are buried as soon as it can be done, also where it could not be when they died', async () => {
    const holder = await start();
    await holder.call('acquire', 'k');
    const waiter = await waiting('k');
    const stopped = await start();
    await stopped.call('enterTransaction', at.path);
    stopped.pause();
    await holder.kill();
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // longer than a step waits for others
    await stopped.kill();
    const ended = machineTime();
    expect((await got(waiter, 5_000)).at - ended, 'ms, of a lease of 30 s').toBeLessThan(2 * TOLD);
  });

  test('never two inside and tokens that grow, while processes are killed at random', { timeout: 60_000 }, async () => {
    const log = join(at.folder, 'log');
    const lines = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
    const begin = async (): Promise<{ worker: Worker; work: Promise<void> }> => {
      const worker = await start();
      const work = worker.call('work', 'k', log);
      work.catch(() => {}); // of those who are killed
      return { worker, work };
    };
    const crew = await Promise.all([begin(), begin(), begin()]);
    const killed = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const before = lines().length;
      await until('50 more entries', () => lines().length > before + 100);
      const { worker } = crew[round % crew.length]!;
      killed.add(worker.pid);
      await worker.kill();
      crew[round % crew.length] = await begin();
    }
    for (const { worker, work } of crew) {
      await worker.call('stop');
      await work;
    }

    let inside: { token: bigint; pid: number } | undefined;
    let last = 0n;
    for (const line of lines()) {
      const [step, text, id] = line.split(' ');
      const [token, pid] = [BigInt(text!), Number(id)];
      if (step === 'in') {
        if (inside) expect(killed, `${line}, while ${inside.token} ${inside.pid} was inside`).toContain(inside.pid);
        expect(token, line).toBeGreaterThan(last);
        last = token;
        inside = { token, pid };
      } else {
        expect(inside, line).toEqual({ token, pid });
        inside = undefined;
      }
    }
  });

  test('the sockets of the dead are tidied away', async () => {
    const dead = await start();
    await dead.call('acquire', 'k');
    await dead.kill();
    await locks.mutex('other').run(() => {});
    await until('the key of the dead is free', async () => (await length(locks)) === 0);
    await until('one socket is left', () => readdirSync(at.sockets).length === 1);
  });
});
