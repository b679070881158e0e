import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { file } from '../../src/backends/file/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Release } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { describeConformance } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { heard } from './heard.ts';

const shared = memory();
describeConformance({
  name: 'memory whose releases nobody waits for',
  open: async () => shared,
  options: { awaitRelease: false },
});
const lingering = memory();
describeConformance({
  name: 'memory whose holds linger',
  open: async () => lingering,
  options: { handOff: { linger: '3ms' } },
});

/** Locks over an engine whose releases are answered when the test lets them. */
function setup() {
  const engine = memory();
  const held: PromiseWithResolvers<void>[] = [];
  const calls: string[] = [];
  const backend: Backend = around(engine, {
    attempt(claim) {
      calls.push('attempt');
      return engine.attempt(claim);
    },
    async release(handle, next): Promise<Release> {
      calls.push(next ? 'exchange' : 'release');
      const gate = Promise.withResolvers<void>();
      held.push(gate);
      await gate.promise;
      return engine.release(handle, next);
    },
  });
  const letAll = (): void => {
    for (const gate of held.splice(0)) gate.resolve();
  };
  return { engine, held, calls, locks: createLocks(backend, { handOff: false }), letAll };
}

describe('awaitRelease: false', () => {
  test('run and a block with await using end before the release is answered; release() still waits', async () => {
    const { locks, held, letAll } = setup();
    await settleWithin(
      'run',
      locks.mutex('a').run(() => {}, { awaitRelease: false }),
    );
    await settleWithin(
      'all()',
      locks.all(['x', 'y'], { awaitRelease: false }).run(() => {}),
    );
    {
      await using lease = await locks.mutex('b').acquire({ awaitRelease: false });
      expect(lease.held).toBe(true);
    }
    await until('all are on their way', () => held.length === 4);
    const lease = await locks.mutex('c').acquire({ awaitRelease: false });
    let released = false;
    const release = lease.release().then(() => {
      released = true;
    });
    await until('it is on its way', () => held.length === 5);
    expect(released).toBe(false);
    letAll();
    await release;
    await locks.close();
  });

  test('by default both wait', async () => {
    const { locks, held, letAll } = setup();
    let over = false;
    const run = locks.mutex('a').run(() => {});
    void run.then(() => {
      over = true;
    });
    await until('it is on its way', () => held.length === 1);
    expect(over).toBe(false);
    letAll();
    await run;
    await locks.close();
  });

  test('the release leaves in the turn in which the function ended', async () => {
    const { locks, held, letAll } = setup();
    await locks.mutex('a').run(() => {}, { awaitRelease: false });
    const sent = await new Promise((resolve) => setImmediate(() => resolve(held.length)));
    expect(sent).toBe(1);
    letAll();
    await locks.close();
  });

  test('a caller that asks again at once rides on the release: one request a cycle', async () => {
    using folder = temporaryFolder();
    const engine = file({ path: join(folder.path, 'locks.db') });
    const calls: string[] = [];
    const backend = around(engine, {
      attempt: (claim) => {
        calls.push('attempt');
        return engine.attempt(claim);
      },
      release: (handle, next) => {
        calls.push(next ? 'exchange' : 'release');
        return engine.release(handle, next);
      },
    });
    const locks = createLocks(backend, { awaitRelease: false, handOff: false });
    for (let i = 0; i < 4; i++) await locks.mutex('a').run(() => {});
    await locks.close();
    expect(calls).toEqual(['attempt', 'exchange', 'exchange', 'exchange', 'release']);
  });

  test('256 may be under way, and the next one is waited for', async () => {
    const { locks, held, letAll } = setup();
    const cycle = (key: string) => locks.mutex(key).run(() => {}, { awaitRelease: false });
    for (let i = 0; i < 256; i++) await settleWithin(`run ${i}`, cycle(`${i}`));
    let over = false;
    const last = cycle('last').then(() => {
      over = true;
    });
    await until('it is on its way', () => held.length === 257);
    expect(over).toBe(false);
    letAll();
    await last;
    await settleWithin('a later run', cycle('later'));
    await until('that is on its way', () => held.length === 1);
    letAll();
    await locks.close();
  });

  test('close() waits for all of them', async () => {
    const { locks, held, letAll } = setup();
    for (const key of ['a', 'b', 'c']) await locks.mutex(key).run(() => {}, { awaitRelease: false });
    let closed = false;
    const close = locks.close().then(() => {
      closed = true;
    });
    await until('all are on their way', () => held.length === 3);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).toBe(false);
    letAll();
    await settleWithin('close', close);
  });

  test('a release that is not answered is told by an event, and tried again', async () => {
    using events = heard('released', 'releaseFailed');
    const engine = memory();
    let broken = true;
    const backend = around(engine, {
      release: (handle, next) => {
        if (!broken) return engine.release(handle, next);
        broken = false;
        return Promise.reject(new Error('the line is dead'));
      },
    });
    const locks = createLocks(backend);
    await locks.mutex('a').run(() => {}, { awaitRelease: false });
    await until('it is free', async () => (await locks.mutex('a').tryAcquire()) !== null);
    expect(events.names.slice(0, 2)).toEqual(['released', 'releaseFailed']);
    expect(events.events[1]).toMatchObject({ key: 'a', error: { message: 'the line is dead' } });
    await locks.close();
  });
});

test('a try in the turn of the release finds the key free, not taken by its own process', async () => {
  const locks = createLocks(memory(), { awaitRelease: false });
  await locks.mutex('a').run(() => {});
  const lease = await locks.mutex('a').tryAcquire();
  expect(lease?.held).toBe(true);
  await lease?.release();
  await locks.close();
});

describe('handOff: { linger }', () => {
  const counted = () => {
    const engine = memory();
    const calls: string[] = [];
    const backend = around(engine, {
      attempt: (claim) => {
        calls.push('attempt');
        return engine.attempt(claim);
      },
      release: (handle, next) => {
        calls.push('release');
        return engine.release(handle, next);
      },
    });
    const open = (handOff: object) => createLocks(backend, { handOff });
    return { engine, calls, open };
  };

  test('a caller that comes within it gets the hold of the last one, with a higher token, and the engine hears nothing', async () => {
    const { calls, open } = counted();
    const locks = open({ linger: '500ms', within: '10s' });
    const first = await locks.mutex('a').run(({ token }) => token);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await locks.mutex('a').run(({ token }) => token);
    expect(second).toBe(first + 1n);
    expect(calls).toEqual(['attempt']);
    await locks.close();
    expect(calls).toEqual(['attempt', 'release']);
  });

  test('a caller inside of another hold that looks for deadlocks does not wait until it is over', async () => {
    const { open } = counted();
    const locks = open({ linger: '1s', within: '10s' });
    await locks.mutex('a').run(() => {});
    const began = performance.now();
    await locks.mutex('outer').run(() => locks.mutex('a').run(() => {}, { detect: true }));
    expect(performance.now() - began, 'ms').toBeLessThan(500);
    await locks.close();
  });

  test('nobody comes: the engine has it back when it is over, and others wait no longer', async () => {
    const { open, engine } = counted();
    const locks = open({ linger: '30ms', within: '10s' });
    const others = createLocks(engine);
    await locks.mutex('a').run(() => {});
    expect(await others.mutex('a').tryAcquire()).toBeNull();
    const began = performance.now();
    const lease = await others.mutex('a').acquire();
    expect(performance.now() - began, 'ms').toBeLessThan(1_000);
    await lease.release();
    await locks.close();
    await others.close();
  });

  test('a hold that had to wait in the line of the engine is not kept: others want it', async () => {
    const { engine, open } = counted();
    const locks = open({ linger: '1s', within: '10s' });
    const others = createLocks(engine);
    const lease = await others.mutex('a').acquire();
    const waiting = locks.mutex('a').run(() => {});
    await until('it waits', async () => {
      let found = 0;
      for await (const _ of others.inspect('a')) found++;
      return found === 2;
    });
    await lease.release();
    await waiting;
    const next = await settleWithin('the next one', others.mutex('a').acquire(), 900);
    await next.release();
    await locks.close();
    await others.close();
  });

  test('the time counts from the last release, also where the timer of an earlier one fires in between', async () => {
    const clock = manualClock(1);
    const engine = memory({ clock });
    const locks = createLocks(engine, { clock, handOff: { linger: 100, within: '10s' } });
    const others = createLocks(engine, { clock });
    const isFree = async (): Promise<boolean> => {
      const lease = await others.mutex('a').tryAcquire();
      await lease?.release();
      return lease !== null;
    };
    await locks.mutex('a').run(() => {});
    await clock.advance(60);
    await locks.mutex('a').run(() => {});
    await clock.advance(60);
    expect(await isFree(), '60 ms after the second').toBe(false);
    await clock.advance(39);
    expect(await isFree(), '99 ms after it').toBe(false);
    await clock.advance(1);
    expect(await isFree(), '100 ms after it').toBe(true);
    await locks.close();
    await others.close();
  });

  test('a shorter linger is no longer for a longer one before it', async () => {
    const clock = manualClock(1);
    const engine = memory({ clock });
    const locks = createLocks(engine, { clock });
    const others = createLocks(engine, { clock });
    const uses = (linger: number) => locks.mutex('a', { handOff: { linger, within: '10s' } }).run(() => {});
    await uses(1_000);
    await uses(10);
    await clock.advance(10);
    expect(await others.mutex('a').tryAcquire(), '10 ms after the second').not.toBeNull();
    await locks.close();
    await others.close();
  });

  test('a hold is not kept from a caller here that may not take it over', async () => {
    const { open } = counted();
    const locks = open({ linger: '1s', within: '10s' });
    const lease = await locks.mutex('a').acquire();
    const other = locks.mutex('a').acquire({ ttl: '5s' });
    await lease.release();
    await (await settleWithin('the other', other, 500)).release();
    await locks.close();
  });

  test('it ends with the tenure, however many come', async () => {
    const { calls, open } = counted();
    const locks = open({ linger: '1s', within: '10s', max: 3 });
    for (let i = 0; i < 8; i++) await locks.mutex('a').run(() => {});
    expect(calls.filter((call) => call === 'attempt').length).toBeGreaterThanOrEqual(2);
    await settleWithin('close', locks.close(), 900);
  });
});
