import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, type Incumbent, type Leader, type LeaderEvent, type Term } from '../../src/index.ts';
import { leaderChannels } from '../../src/leading/events.ts';

/** Several processes on one engine, on a clock that the test moves. */
function scene() {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const processes = (label: string, backend = around(engine, { close: async () => {} })) =>
    createLocks(backend, { clock, ttl: 900, label });
  return { clock, engine, processes };
}

/** A function that leads until it is told to end, and says when. */
function reign(terms: Term[] = []) {
  let working = 0;
  const fn = async (term: Term): Promise<void> => {
    expect(++working, 'two terms at a time').toBe(1);
    terms.push(term);
    await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
    working--;
  };
  return { fn, terms };
}

function heardOf(...names: (keyof typeof leaderChannels)[]) {
  const events: LeaderEvent[] = [];
  const hear = (event: unknown) => events.push(event as LeaderEvent);
  for (const name of names) leaderChannels[name].subscribe(hear);
  return {
    events,
    [Symbol.dispose]() {
      for (const name of names) leaderChannels[name].unsubscribe(hear);
    },
  };
}

test('one candidate leads; when it is stopped the next one does, with a higher token, and never beside it', async () => {
  const { clock, processes } = scene();
  const { fn, terms } = reign();
  const stop = new AbortController();
  const a = processes('a').leader('l').run(fn, { signal: stop.signal });
  await clock.advance(1);
  const second = new AbortController();
  const b = processes('b').leader('l').run(fn, { signal: second.signal });
  await clock.advance(5_000);
  expect(terms).toHaveLength(1);
  stop.abort();
  await a;
  await clock.advance(1);
  expect(terms).toHaveLength(2);
  expect(terms[1]!.token).toBeGreaterThan(terms[0]!.token);
  expect([terms[0]!.held, terms[1]!.held]).toEqual([false, true]);
  second.abort();
  await b;
});

test('the term is given up only when the function has settled', async () => {
  const { clock, processes } = scene();
  const stop = new AbortController();
  const work = Promise.withResolvers<void>();
  let settled = false;
  const run = processes('a')
    .leader('l')
    .run(() => work.promise, { signal: stop.signal })
    .then(() => {
      settled = true;
    });
  await clock.advance(1);
  stop.abort();
  await clock.advance(10_000);
  const other = processes('b');
  expect([settled, await other.mutex('l').tryAcquire()]).toEqual([false, null]);
  work.resolve();
  await run;
  expect(await other.mutex('l').tryAcquire()).not.toBeNull();
});

test('a lost term is told before its deadline, waited for, and followed by another campaign', async () => {
  const { clock, engine, processes } = scene();
  let cut = false;
  const backend = around(engine, { renew: (claims) => (cut ? new Promise(() => {}) : engine.renew(claims)) });
  const held: boolean[] = [];
  const terms: Term[] = [];
  const stop = new AbortController();
  using heard = heardOf('elected', 'termEnded', 'termOverdue');
  const run = processes('a', backend)
    .leader('l', { settle: 2_000 })
    .run(
      async (term) => {
        terms.push(term);
        term.signal.addEventListener('abort', () => held.push(term.held));
        if (terms.length === 1) await new Promise<void>((resolve) => clock.after(5_000, resolve));
        else await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
      },
      { signal: stop.signal },
    );
  await clock.advance(1);
  cut = true;
  await clock.advance(4_900);
  expect(held).toEqual([true]);
  expect(terms, 'the first function has not settled').toHaveLength(1);
  cut = false;
  await clock.advance(2_000);
  expect(terms).toHaveLength(2);
  stop.abort();
  await run;
  expect(heard.events.map(({ why, token }) => [why, token])).toEqual([
    [undefined, terms[0]!.token],
    ['lost', terms[0]!.token],
    ['lost', terms[0]!.token],
    [undefined, terms[1]!.token],
    ['stopped', terms[1]!.token],
  ]);
});

test('a function that fails at once is told, and tried again after pauses that grow, never in a tight loop', async () => {
  const { clock, processes } = scene();
  const stop = new AbortController();
  const errors: unknown[] = [];
  let calls = 0;
  const leader = processes('a').leader('l', { onError: (error) => errors.push(error) });
  const run = leader.run(
    () => {
      calls++;
      throw new Error('not today');
    },
    { signal: stop.signal },
  );
  await clock.advance(60_000);
  expect(calls).toBeGreaterThan(5);
  expect(calls).toBeLessThan(20);
  expect(errors).toHaveLength(calls);
  stop.abort();
  await run;
  expect(clock.pending, 'timers left').toBe(0);
});

test('an engine that cannot be asked for a while is no end of the campaign', async () => {
  const { clock, engine, processes } = scene();
  let down = true;
  const backend = around(engine, {
    attempt: (claim) => (down ? Promise.reject(new Error('down')) : engine.attempt(claim)),
  });
  const { fn, terms } = reign();
  const stop = new AbortController();
  const run = processes('a', backend).leader('l').run(fn, { signal: stop.signal });
  await clock.advance(60_000);
  down = false;
  await clock.advance(30_000);
  expect(terms).toHaveLength(1);
  stop.abort();
  await run;
});

test('resign() inside the function of its own term does not wait for it; the term ends with the function, and another leads', async () => {
  const { clock, processes } = scene();
  const { fn, terms } = reign();
  const locks = processes('a');
  const leader = locks.leader('l', { pause: { pause: 10_000, jitter: 0 } });
  const stop = new AbortController();
  const told: unknown[] = [];
  using heard = heardOf('termEnded');
  const settle = Promise.withResolvers<void>();
  const first = leader.run(
    async (term) => {
      if (told.length > 0) return fn(term);
      told.push(await locks.mutex('inner').run(() => leader.resign()), term.signal.aborted, term.held);
      await settle.promise;
    },
    { signal: stop.signal },
  );
  await clock.advance(1);
  expect(told).toEqual([true, true, true]);
  const second = processes('b').leader('l').run(fn, { signal: stop.signal });
  let outside: boolean | undefined;
  void leader.resign().then((led) => (outside = led));
  await clock.advance(5_000);
  expect([terms, outside], 'the function has not settled').toEqual([[], undefined]);
  settle.resolve();
  await clock.advance(1);
  expect([terms.length, outside, heard.events.map(({ why }) => why)]).toEqual([1, true, ['resigned']]);
  stop.abort();
  await Promise.all([first, second]);
});

test('resign() in a timer that an earlier term has left waits for the end of the later term', async () => {
  const { clock, processes } = scene();
  const leader = processes('a').leader('l');
  const stop = new AbortController();
  const asked = Promise.withResolvers<void>();
  const led: string[] = [];
  const run = leader.run(
    async (term) => {
      led.push('begins');
      if (led.length === 1) {
        void asked.promise.then(() => leader.resign()).then(() => led.push('resigned'));
        return;
      }
      await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
      await new Promise<void>((resolve) => clock.after(50, resolve));
      led.push('ends');
      stop.abort();
    },
    { signal: stop.signal },
  );
  await clock.advance(1_000);
  asked.resolve();
  await clock.advance(1_000);
  await run;
  await clock.advance(1);
  expect(led).toEqual(['begins', 'begins', 'ends', 'resigned']);
});

test('resign() ends the term, and the next candidate leads as soon as the function has settled', async () => {
  const { clock, processes } = scene();
  const { fn, terms } = reign();
  const stop = new AbortController();
  const first = processes('a').leader('l');
  const runs = [first.run(fn, { signal: stop.signal })];
  await clock.advance(1);
  runs.push(processes('b').leader('l').run(fn, { signal: stop.signal }));
  await clock.advance(10);
  expect(await first.resign()).toBe(true);
  expect(await first.resign()).toBe(false);
  await clock.advance(1);
  expect(terms).toHaveLength(2);
  expect(await first.current()).toMatchObject({ label: 'b', token: terms[1]!.token });
  stop.abort();
  await Promise.all(runs);
});

test('a candidate that died in line and is let in is named, though its function never runs, until its term expires', async () => {
  const { clock, engine, processes } = scene();
  let dead = false;
  const unless = <T>(call: () => Promise<T>): Promise<T> => (dead ? new Promise(() => {}) : call());
  const mortal = around(engine, {
    attempt: (claim) => unless(() => engine.attempt(claim)),
    renew: (claims) => unless(() => engine.renew(claims)),
    release: (...of) => unless(() => engine.release(...of)),
    watch: undefined,
    close: async () => {},
  });
  const { fn, terms } = reign();
  const [stop, end] = [new AbortController(), new AbortController()];
  const first = processes('first').leader('l').run(fn, { signal: stop.signal });
  await clock.advance(1);
  const ran: unknown[] = [];
  void processes('second', mortal)
    .leader('l')
    .run((term) => void ran.push(term), { signal: end.signal })
    .catch(() => {});
  await clock.advance(1);
  dead = true;
  const third = processes('third').leader('l');
  const last = third.run(fn, { signal: end.signal });
  await clock.advance(1);
  stop.abort();
  await first;
  const named = await third.current();
  expect(named).toMatchObject({ label: 'second' });
  expect(named!.token).toBeGreaterThan(terms[0]!.token);
  await clock.advance(5_000);
  expect(await third.current()).toMatchObject({ label: 'third', token: terms[1]!.token });
  expect(terms[1]!.token, 'its token is never used again').toBeGreaterThan(named!.token);
  expect(ran).toEqual([]);
  end.abort();
  await last;
});

test('with autoCampaign: false one term is led, and what its function throws is thrown', async () => {
  const { processes } = scene();
  const leader = processes('a').leader('l', { autoCampaign: false });
  await leader.run(() => 1);
  await expect(leader.run(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
});

test('a signal that is aborted before the start starts nothing', async () => {
  const { processes } = scene();
  let calls = 0;
  await processes('a')
    .leader('l')
    .run(() => calls++, { signal: AbortSignal.abort() });
  expect(calls).toBe(0);
});

test('run() says that the Locks are closed when a listener of its grant has closed them', async () => {
  const { clock, processes } = scene();
  const locks = processes('a');
  const close = (): void => void locks.close();
  channels.acquired.subscribe(close);
  const run = locks.leader('l').run(() => expect.fail('it leads'));
  const ended = expect(run).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  await clock.advance(60_000);
  channels.acquired.unsubscribe(close);
  await ended;
});

test('close() ends the term, and run() says so', async () => {
  const { clock, processes } = scene();
  const locks = processes('a');
  const { fn, terms } = reign();
  const run = locks.leader('l').run(fn);
  const ended = expect(run).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  await clock.advance(1);
  const closed = locks.close();
  await clock.advance(60_000);
  await Promise.all([closed, ended]);
  expect(terms[0]!.signal.aborted).toBe(true);
});

test('an observer sees every leader that lasts, the newest in the end, and never one that has gone', async () => {
  const { clock, processes } = scene();
  const [a, b, observer] = [processes('a').leader('l'), processes('b').leader('l'), processes('o').leader('l')];
  const seen: (Incumbent | null)[] = [];
  const leave = new AbortController();
  const watching = (async () => {
    for await (const who of observer.observe({ signal: leave.signal, every: 100 })) seen.push(who);
  })();
  await clock.advance(1);
  const stops = [new AbortController(), new AbortController()];
  const { fn } = reign();
  const led = async (leader: Leader, stop: AbortController): Promise<void> => {
    const run = leader.run(fn, { signal: stop.signal });
    await clock.advance(300);
    stop.abort();
    await run;
  };
  await led(a, stops[0]!);
  await clock.advance(300);
  await led(b, stops[1]!);
  await clock.advance(300);
  leave.abort();
  await watching;
  expect(seen.map((who) => who?.label ?? null)).toEqual([null, 'a', null, 'b', null]);
});

test.each<[string, (leader: Leader) => unknown, RegExp]>([
  ['no function', (leader) => leader.run(1 as never), /run\(\) needs a function, not 1/],
  ['no signal', (leader) => leader.run(() => {}, { signal: 5 as never }), /it must be an AbortSignal/],
  ['two runs at a time', (leader) => Promise.all([leader.run(() => {}), leader.run(() => {})]), /runs already/],
])('%s is LOCK_INVALID', async (_title, call, message) => {
  const leader = scene().processes('a').leader('l', { autoCampaign: false });
  await expect(async () => call(leader)).rejects.toMatchObject({
    code: 'LOCK_INVALID',
    message: expect.stringMatching(message),
  });
});

test('where the engine cannot list, observers are told at once', async () => {
  const { engine, processes } = scene();
  const leader = processes('a', around(engine, { inspect: undefined })).leader('l');
  expect(() => leader.observe()).toThrow(expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }));
  await expect(leader.current()).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
});
