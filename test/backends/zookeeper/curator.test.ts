import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';
import { type Kind, Rival } from './rival.ts';

/** ms that a wait lasts which is meant to fail. */
const BRIEF = 300;
const LONG = 10_000;
const KEY = 'order:42/ä';
const PATH = '/app/locks/order%3A42%2F%C3%A4';

describeOn(['zookeeper', 'curator'], "Curator's locks and ours on the documented path", () => {
  let server: Server;
  let locks: Locks;
  let rival: Rival;

  beforeAll(async () => {
    server = await startZookeeper();
    locks = createLocks(zookeeper({ servers: `${server.host}:${server.port}`, prefix: 'app/locks' }));
    rival = await Rival.start(`${server.host}:${server.port}`, PATH);
  }, 120_000);

  afterAll(async () => {
    await rival?.[Symbol.asyncDispose]();
    await locks?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const ours = (kind: Kind) => {
    const { read, write } = locks.rwLock(KEY);
    return { mutex: locks.mutex(KEY), read, write }[kind];
  };

  const pairs: readonly (readonly [Kind, Kind])[] = [
    ['mutex', 'mutex'],
    ['write', 'write'],
    ['write', 'read'],
    ['read', 'write'],
  ];

  test.for(pairs)('our %s keeps a Curator %s out, and hands over when it is released', async ([mine, theirs]) => {
    const lease = await ours(mine).acquire({ wait: LONG });
    expect(await rival.takes(theirs, BRIEF), 'Curator got it beside us').toBe(false);
    const waiting = rival.takes(theirs, LONG);
    await lease.release();
    expect(await waiting, 'Curator was not told of our release').toBe(true);
    await rival.frees(theirs);
  });

  test.for(pairs)('a Curator %s keeps our %s out, and hands over when it is released', async ([theirs, mine]) => {
    expect(await rival.takes(theirs, LONG)).toBe(true);
    expect(await ours(mine).tryAcquire(), 'we got it beside Curator').toBeNull();
    const waiting = ours(mine).acquire({ wait: LONG });
    await rival.frees(theirs);
    await (await waiting).release();
  });

  test('readers of both share', async () => {
    const lease = await ours('read').acquire({ wait: LONG });
    expect(await rival.takes('read', LONG)).toBe(true);
    const another = await ours('read').acquire({ wait: LONG });
    await rival.frees('read');
    await another.release();
    await lease.release();
  });

  test('our mutex, writer and permits exclude each other on one key', async () => {
    const permits = locks.semaphore(KEY, { permits: 2 });
    for (const first of [ours('mutex'), ours('write'), permits]) {
      await using _held = await first.acquire({ wait: LONG });
      for (const second of [ours('mutex'), ours('write')]) expect(await second.tryAcquire()).toBeNull();
    }
  });

  test('in a contest over 60 sections nobody is ever inside together with another', async () => {
    let inside = 0;
    let sections = 0;
    const enter = () => {
      inside++;
      expect(inside, 'two are inside').toBe(1);
    };
    const leave = () => {
      inside--;
      sections++;
    };
    const us = async () => {
      for (let i = 0; i < 20; i++) {
        await ours('mutex').run(
          async () => {
            enter();
            await new Promise(setImmediate);
            leave();
          },
          { wait: LONG },
        );
      }
    };
    const them = async () => {
      for (let i = 0; i < 20; i++) {
        expect(await rival.takes('mutex', LONG)).toBe(true);
        enter();
        await new Promise(setImmediate);
        leave();
        await rival.frees('mutex');
      }
    };
    await Promise.all([us(), us(), them()]);
    expect(sections).toBe(60);
  });

  test('a Curator mutex and our permits exclude each other', async () => {
    const permits = locks.semaphore(KEY, { permits: 2 });
    const lease = await permits.acquire({ wait: LONG });
    expect(await rival.takes('mutex', BRIEF)).toBe(false);
    await lease.release();
    expect(await rival.takes('mutex', LONG)).toBe(true);
    expect(await permits.tryAcquire()).toBeNull();
    await rival.frees('mutex');
  });

  test('a killed Curator holder is replaced when its session is over', async () => {
    await using doomed = await Rival.start(`${server.host}:${server.port}`, PATH);
    expect(await doomed.takes('mutex', LONG)).toBe(true);
    doomed.kill();
    await (await ours('mutex').acquire({ wait: 2 * LONG })).release();
  });
});
