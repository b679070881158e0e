import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { program } from '../../kit/programs.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { endpoint, keys } from './etcdctl.ts';

describeOn('etcd', 'beside `etcdctl lock`', () => {
  let server: Server;
  let locks: Locks;

  beforeAll(async () => {
    server = await startEtcd();
    locks = createLocks(etcd({ endpoints: endpoint(server) }));
  });
  afterAll(async () => {
    await locks?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** `etcdctl lock NAME`: prints the key it holds, and holds it until it is interrupted. */
  function rival(name: string): { process: ChildProcess; holds: Promise<unknown>; leaves(): Promise<void> } {
    const process = spawn(program('etcd', 'etcdctl'), ['--endpoints', endpoint(server), 'lock', name], {
      env: { ETCDCTL_API: '3' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return {
      process,
      holds: once(process.stdout!, 'data'),
      async leaves() {
        const exited = once(process, 'exit');
        process.kill('SIGINT');
        await exited;
      },
    };
  }

  const names: [key: string, name: string][] = [
    ['order:42', 'holdfast/order%3A42'],
    ['a/b', 'holdfast/a%2Fb'],
  ];

  test.each(names)('%s is refused while %s is locked, and had when it is free', async (key, name) => {
    const { holds, leaves } = rival(name);
    await holds;
    expect(await locks.mutex(key).tryAcquire()).toBeNull();
    expect(await locks.semaphore(key, { permits: 3 }).tryAcquire()).toBeNull();
    const waiting = locks.mutex(key).acquire({ wait: '10s' });
    await until('we stand behind it', async () => (await keys([server])).length === 2);
    for await (const { position, held } of locks.inspect(key)) expect(held, `${position} in line`).toBe(position === 0);
    const started = performance.now();
    await leaves();
    await using lease = await waiting;
    expect(lease.held).toBe(true);
    expect(performance.now() - started, 'ms after the rival left: woken, not polled').toBeLessThan(1_500);
  });

  test.each(names)('while %s is held, %s has to wait, and gets it after the release', async (key, name) => {
    const lease = await locks.mutex(key).acquire();
    const { process, holds, leaves } = rival(name);
    let printed = false;
    void holds.then(() => {
      printed = true;
    });
    await until('the rival stands behind us', async () => (await keys([server])).length === 2);
    expect(printed).toBe(false);
    expect(process.exitCode).toBeNull();
    await lease.release();
    await holds;
    await leaves();
  });
});
