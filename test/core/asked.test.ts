import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Attempt, Backend, Claim, Release, Traits } from '../../src/core/contract/backend.ts';
import { createLocks, LockError, type LockOptions } from '../../src/index.ts';

type Answer = (engine: Backend, claim: Claim) => Promise<Attempt>;
type Turn = (engine: Backend, claim: Claim, next: Claim | undefined) => Promise<Release>;

interface How {
  /** To the attempts, one after the other; then as the engine answers. */
  readonly attempts?: readonly Answer[];
  readonly release?: Turn;
  readonly traits?: Partial<Traits>;
  readonly options?: LockOptions;
}

/** Locks of a process whose engine answers as it is told; and what it was asked, when. */
function setup({ attempts = [], release, traits, options }: How = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  const asked: { readonly at: number; readonly id: string }[] = [];
  const released: { readonly at: number; readonly id: string }[] = [];
  const claims = new Map<string, Claim>();
  const backend = around(engine, {
    traits: { ...engine.traits, ...traits },
    attempt(claim) {
      claims.set(claim.id, claim);
      asked.push({ at: clock.now(), id: claim.id });
      const answer = attempts[asked.length - 1];
      return answer ? answer(engine, claim) : engine.attempt(claim);
    },
    release(handle, next) {
      released.push({ at: clock.now(), id: handle.id });
      return release ? release(engine, claims.get(handle.id) ?? (handle as Claim), next) : engine.release(handle, next);
    },
  });
  const locks = createLocks(backend, { clock, ttl: 10_000, ...options });
  const after = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  return { clock, engine, locks, lock: locks.mutex('key'), asked, released, after };
}
const late: Answer = async () => ({ granted: false, late: true });
const cut: Answer = () => Promise.reject(new Error('cut'));
const never: Answer = () => new Promise(() => {});
const times = (of: readonly { readonly at: number }[]): number[] => of.map(({ at }) => at);

describe('an engine that finds a request too late', () => {
  test('is asked at once again, three times in a row', async () => {
    const { lock, asked } = setup({ attempts: [late, late, late] });
    const lease = await lock.tryAcquire();
    expect(lease?.held).toBe(true);
    expect(times(asked)).toEqual([0, 0, 0, 0]);
  });

  test('a fourth time cannot be asked: whoever wants it now is told why', async () => {
    const { lock } = setup({ attempts: [late, late, late, late] });
    await expect(lock.tryAcquire()).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('every request came later than 5000 ms'),
    });
  });

  test('is not counted over the answers in between', async () => {
    const refused: Answer = async () => ({ granted: false });
    const { clock, lock, asked } = setup({
      attempts: [late, late, late, refused, late, late, late],
      traits: { wakes: 'never', fair: false },
      options: { spin: { pause: 100, jitter: 0 } },
    });
    const waiting = lock.acquire();
    await clock.advance(100);
    expect((await waiting).held).toBe(true);
    expect(times(asked)).toEqual([0, 0, 0, 0, 100, 100, 100, 100]);
  });
});

describe('what a request that was not answered may have done', () => {
  test('is taken back when its caller gives up, and once more when it can no longer arrive', async () => {
    const { clock, lock, released } = setup({ attempts: [never] });
    const controller = new AbortController();
    const waiting = expect(lock.acquire({ signal: controller.signal })).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await clock.advance(100);
    controller.abort();
    await clock.advance(20_000);
    await waiting;
    expect(times(released)).toEqual([5_000, 5_100]); // it may take 5 s; and then a hundredth of that, and 50 ms
  });

  test('is asked for anew after pauses that double, up to 2 s, until its lease must be over', async () => {
    const { clock, lock, released } = setup({
      attempts: [never],
      release: () => Promise.reject(new Error('cut')),
      options: { ttl: 4_000 },
    });
    const gone = expect(lock.tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await clock.advance(60_000);
    await gone;
    // The request may take 2 s; it is withdrawn for as long again and for the lease; once more when it can no longer arrive.
    const first = [2_000, 2_050, 2_150, 2_350, 2_750, 3_550, 5_150, 7_150, 9_150];
    const again = [2_070, 2_120, 2_220, 2_420, 2_820, 3_620, 5_220, 7_220, 9_220];
    expect(times(released)).toEqual([...first, ...again].toSorted((a, b) => a - b));
    expect(clock.pending, 'timers in the end').toBe(0);
  });

  test('is nothing where the engine refused it for good, or refused one who does not wait', async () => {
    const refuses: Answer = () => Promise.reject(new LockError('LOCK_UNSUPPORTED', 'not with these rights'));
    const broken = setup({ attempts: [refuses] });
    await expect(broken.lock.acquire()).rejects.toMatchObject({ message: 'not with these rights' });
    const taken = setup();
    await createLocks(taken.engine, { clock: taken.clock }).mutex('key').acquire();
    expect(await taken.lock.tryAcquire()).toBeNull();
    for (const { clock, released } of [broken, taken]) {
      await clock.advance(20_000);
      expect(released).toEqual([]);
    }
  });

  test('is a place in line, if it had one before it was refused for good', async () => {
    const refuses: Answer = () => Promise.reject(new LockError('LOCK_UNSUPPORTED', 'no rights any more'));
    const { clock, engine, lock, asked, released } = setup({
      attempts: [(engine, claim) => engine.attempt(claim), refuses],
      traits: { wakes: 'never' },
    });
    await createLocks(engine, { clock }).mutex('key').acquire();
    const waiting = expect(lock.acquire()).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
    await clock.advance(5_000);
    await waiting;
    await clock.advance(20_000); // that request is answered: nothing of it can arrive later
    expect(released.map(({ id }) => id)).toEqual([asked[0]!.id]);
  });
});

test('a wait that ends while the engine fails says so, with what it said last', async () => {
  const { clock, lock } = setup({ attempts: Array.from({ length: 99 }, () => cut) });
  const waiting = expect(lock.acquire({ wait: 2_000 })).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    cause: new Error('cut'),
  });
  await clock.advance(2_000);
  await waiting;
});

describe('a hold that is over before its answer comes', () => {
  /** That is the attempt after those of `before`, and the process stands still with its answer on the way. */
  function late(...before: Answer[]) {
    const slow: Answer = async (engine, claim) => {
      const answer = await engine.attempt(claim);
      await world.after(1_200);
      return answer;
    };
    const world = setup({ attempts: [...before, slow], options: { ttl: 2_500, handOff: { within: '1m' } } });
    const { clock } = world;
    const standStill = async () => {
      await clock.advance(1_100);
      clock.suspend(5_000);
      clock.resync();
      await clock.advance(10_000);
    };
    return { ...world, standStill };
  }

  test('is taken back, and asked for in a new name', async () => {
    const { lock, asked, released, standStill } = late();
    const waiting = lock.acquire();
    await standStill();
    expect((await waiting).held).toBe(true);
    expect(asked.length).toBe(2);
    expect(asked[1]!.id).not.toBe(asked[0]!.id);
    expect(released.map(({ id }) => id)).toEqual([asked[0]!.id]);
  });

  test('is taken back and nothing else is, where its caller does not wait', async () => {
    const { lock, asked, released, standStill } = late();
    const refused = expect(lock.tryAcquire()).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('was over before its answer came'),
    });
    await standStill();
    await refused;
    expect(asked.length).toBe(1);
    expect(released.map(({ id }) => id)).toEqual([asked[0]!.id]);
  });

  test.each<[string, Answer[]]>([
    ['nothing', []],
    ['a request that was not answered', [cut]],
  ])('and had %s before it leaves no doubt about the one in the new name: that passes on', async (_, before) => {
    const { clock, lock, asked, standStill } = late(...before);
    const waiting = lock.acquire();
    await standStill();
    const lease = await waiting;
    const sent = asked.length;
    expect(sent).toBe(before.length + 2);
    const next = lock.acquire();
    expect(await lease.release()).toBe(true);
    await clock.advance(1);
    expect((await next).token).toBe(lease.token + 1n);
    expect(asked.length, 'asked again').toBe(sent);
  });
});

test('whoever waits in this process behind a caller whose hold was over before its answer came is served', async () => {
  const { clock, lock, after } = setup({
    attempts: [
      async () => {
        await after(10);
        return { granted: true, token: 1n, validFor: 5 };
      },
    ],
  });
  const first = expect(lock.tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  let held: boolean | undefined;
  void lock.acquire().then((lease) => {
    held = lease.held;
  });
  await clock.advance(20);
  await first;
  expect(held).toBe(true);
});

test('a lease of which nothing is left when its answer comes is not granted, however long its delay', async () => {
  const slow: Answer = async (engine, claim) => {
    const answer = await engine.attempt(claim);
    await after(4);
    return answer;
  };
  const { clock, lock, after } = setup({ attempts: Array(1_000).fill(slow), traits: { wakes: 'never' } });
  const outcome = lock.acquire({ ttl: 5, delay: 100, wait: 1_000 }).then(
    () => 'granted',
    ({ code }) => code as string,
  );
  await clock.advance(5_000);
  expect(await outcome).toBe('LOCK_TIMEOUT');
});

describe('a claim that goes along with a release', () => {
  const mailbox: How['traits'] = { wakes: 'buffered' };
  /** The second caller's claim rides on the release of the first. */
  async function riding(how: How) {
    const world = setup({ traits: mailbox, ...how, options: { handOff: false, ttl: 4_000, ...how.options } });
    const first = await world.lock.acquire();
    const second = world.lock.acquire();
    await world.clock.advance(10);
    world.asked.length = 0;
    const left = first.release();
    await world.clock.advance(1_000);
    return { ...world, second, left };
  }
  const freed = async (engine: Backend, claim: Claim) => engine.release(claim);

  test('is granted with it, and the engine is not asked again', async () => {
    const { asked, released, second, left } = await riding({
      async release(engine, claim, next) {
        await freed(engine, claim);
        return { freed: true, next: await engine.attempt(next!) };
      },
    });
    expect((await second).held).toBe(true);
    expect(asked).toEqual([]);
    expect(await left, 'whether the release freed it').toBe(true);
    expect(released, 'releases').toHaveLength(1);
  });

  test.each<[string, Turn]>([
    ['was not taken along', freed],
    [
      'came too late',
      async (engine, claim) => ({ ...(await freed(engine, claim)), next: { granted: false, late: true } }),
    ],
  ])('and %s is asked for at once', async (_, release) => {
    const { asked, second } = await riding({ release });
    expect((await second).held).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('and is refused has its answer: it is not asked for at once, nor was the engine silent', async () => {
    const { clock, asked, second } = await riding({
      release: async (engine, claim) => ({ ...(await freed(engine, claim)), next: { granted: false } }),
      options: { wait: 1_200 }, // before its place needs a sign of life
    });
    const refused = expect(second).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await clock.advance(1_000);
    await refused;
    expect(asked).toEqual([]);
  });

  /** After the first release no attempt is answered. */
  function silentFrom(release: Turn): How {
    let silent = false;
    return {
      attempts: Array.from(
        { length: 99 },
        (): Answer => (engine, claim) => (silent ? never(engine, claim) : engine.attempt(claim)),
      ),
      release(engine, claim, next) {
        silent = true;
        return release(engine, claim, next);
      },
    };
  }

  test.each<[string, Awaited<ReturnType<Turn>>]>([
    ['was not taken along', { freed: true }],
    ['came too late', { freed: true, next: { granted: false, late: true } }],
  ])('and %s was not answered: whoever waits in vain from then on is told that the engine is silent', async (_, answer) => {
    const { clock, second } = await riding({ ...silentFrom(async () => answer), options: { wait: 1_500 } });
    const refused = expect(second).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await clock.advance(1_000);
    await refused;
  });

  test('and was not answered is asked for until ten seconds after it was sent, as any other', async () => {
    const { clock, second } = await riding(silentFrom(() => new Promise(() => {})));
    let code: unknown;
    second.catch((error) => {
      code = error.code;
    });
    await clock.advance(10_000 - clock.now());
    expect(code, 'ten seconds after nobody was asked').toBeUndefined();
    await clock.advance(10 + 2_000 + 10); // the last request may be sent then, and take 2 s
    expect(code).toBe('LOCK_UNAVAILABLE');
  });

  test('and of which no answer came is taken back later, too, when its caller gives up', async () => {
    let holder: string | undefined;
    const { clock, asked, released, second } = await riding({
      async release(engine, claim) {
        holder ??= claim.id;
        if (claim.id === holder) throw new Error('cut');
        return freed(engine, claim);
      },
      options: { wait: 1_500 },
    });
    second.catch(() => {});
    await clock.advance(30_000);
    const { id } = asked[0]!;
    // Sent at 10 ms; it may take 2 s, and then a hundredth of that, and 50 ms.
    expect(times(released.filter((one) => one.id === id))).toEqual([1_500, 10 + 2_020 + 50]);
  });

  test('goes along on no engine that has no mailbox', async () => {
    let nexts = 0;
    const { second } = await riding({
      traits: { wakes: 'watch' },
      async release(engine, claim, next) {
        if (next) nexts++;
        return freed(engine, claim);
      },
    });
    expect((await second).held).toBe(true);
    expect(nexts).toBe(0);
  });
});

test('where nobody wakes a waiter, its pauses double', async () => {
  const { clock, engine, lock, asked } = setup({
    traits: { wakes: 'never', fair: false },
    options: { spin: { pause: 10, jitter: 0, bound: 1_000 } },
  });
  await createLocks(engine, { clock }).mutex('key').acquire();
  void lock.acquire().catch(() => {});
  await clock.advance(700);
  expect(times(asked)).toEqual([0, 10, 30, 70, 150, 310, 630]);
});
