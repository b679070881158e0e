import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { type ManualClock, manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { excludedUntil, type NodeView } from '../../../src/backends/quorum/lease-memory.ts';
import { closedError, meaning } from '../../../src/backends/redis/errors.ts';
import type { Backend, Hints, Run } from '../../../src/core/contract/backend.ts';
import { claim, holders } from './nodes.ts';
import { outcomeOf } from './scripted.ts';

const BOUNDS = { majority: 2, maxTtl: 300_000, drift: 0 };
const looked = (more: Partial<NodeView> = {}): NodeView => ({
  ...{ run: 'a', since: 0, remembers: true, marked: 'a', born: [], kept: false, longest: 10_000, restarted: false },
  ...more,
});
/** One that came back empty at 0. */
const EMPTY = looked({ marked: undefined, longest: 0 });
const NEVER = Number.NEGATIVE_INFINITY;

test.each([
  ['one that is known in this run counts', looked(), [looked(), looked()], NEVER],
  [
    'one that came back empty waits for the longest lease the others remember',
    EMPTY,
    [EMPTY, looked(), looked()],
    10_002,
  ],
  [
    'so does one that came back with its data',
    looked({ run: 'b' }),
    [looked({ run: 'b' }), looked(), looked()],
    10_002,
  ],
  ['but not if it kept everything', looked({ run: 'b', kept: true }), [looked(), looked()], NEVER],
  ['with too few who remember it may have been any lease', EMPTY, [EMPTY, EMPTY, looked()], 300_002],
  [
    'who has run for the longest lease bears witness without a mark, from that millisecond on',
    EMPTY,
    [EMPTY, looked({ marked: undefined, since: 1_000 - 300_002 }), looked()],
    10_002,
  ],
  ['and not before', EMPTY, [EMPTY, looked({ marked: undefined, since: 1_001 - 300_002 }), looked()], 300_002],
  [
    'a node that came back with old data bears no witness of leases that it may have forgotten',
    EMPTY,
    [EMPTY, looked({ run: 'b' }), looked()],
    300_002,
  ],
  ['but it does if it kept everything', EMPTY, [EMPTY, looked({ run: 'b', kept: true }), looked()], 10_002],
  ['who was not asked may remember', EMPTY, [EMPTY, EMPTY, undefined], 300_002],
  ['new nodes count at once', EMPTY, [EMPTY, EMPTY, EMPTY], NEVER],
  [
    'one that was new with the others counts',
    { ...EMPTY, longest: 1 },
    [EMPTY, EMPTY, looked({ marked: undefined, born: ['x', 'a'] })],
    NEVER,
  ],
  ['but not for who has known them', { ...EMPTY, restarted: true }, [EMPTY, EMPTY, EMPTY], 300_002],
] as [string, NodeView, (NodeView | undefined)[], number][])('%s', (_, node, all, until) => {
  expect(excludedUntil(node, all, 1_000, BOUNDS)).toBe(until);
});

test('where clocks may drift apart a node waits for longer', () => {
  expect(excludedUntil(EMPTY, [EMPTY, looked(), looked()], 1_000, { ...BOUNDS, drift: 0.5 })).toBe(15_002);
});

/** A server with a run and an age, which can lose its data or keep it. */
class Server {
  readonly #clock: ManualClock;
  #at: Backend;
  #run = 1;
  #began: number;
  durable = false;

  constructor(clock: ManualClock) {
    this.#clock = clock;
    this.#at = memory({ clock });
    this.#began = clock.now();
  }

  /** @param keeps false if it loses its data; otherwise a volume that it had before, by default the one that it has now */
  restart(keeps: boolean | Backend): void {
    this.#run++;
    this.#began = this.#clock.now();
    if (typeof keeps === 'object') this.#at = keeps;
    else if (!keeps) this.#at = memory({ clock: this.#clock });
  }

  get volume(): Backend {
    return this.#at;
  }

  /** An empty server that has run for so long takes its address. */
  replace(age: number): void {
    this.restart(false);
    this.#began -= age;
  }

  /** As one process sees it: asked once for each run. @param nameless it does not say which run it is */
  client(name: string, nameless = false): Backend {
    let told: Run | undefined;
    const incarnation = (): Run => {
      const id = `${name} ${this.#run}`;
      if (told?.id !== id) told = { id, age: this.#clock.now() - this.#began, durable: this.durable };
      return told;
    };
    return new Proxy(this.#at, {
      get: (_, key) => {
        if (key === 'incarnation') return nameless ? undefined : incarnation;
        const value = Reflect.get(this.#at, key, this.#at);
        return typeof value === 'function' ? value.bind(this.#at) : value;
      },
    });
  }
}

/** @param nameless how many of them, the last ones, do not say which run they are */
const scene = (count = 3, nameless = 0) => {
  const clock = manualClock(1);
  const servers = Array.from({ length: count }, () => new Server(clock));
  const clients = () => servers.map((server, i) => server.client(`s${i}`, i >= count - nameless));
  const open = (): Backend => quorum(clients(), { clock });
  const cycle = async (lock: Backend, ttl = 10_000): Promise<boolean> => {
    const mine = claim({ ttl });
    const { granted } = await lock.attempt(mine).catch(() => ({ granted: false }));
    await lock.release(mine).catch(() => {});
    await clock.advance(20);
    return granted;
  };
  return { clock, servers, clients, open, cycle };
};

test.each([
  ['with their data', true],
  ['empty', false],
])('a rolling restart of all nodes %s, further apart than the leases, is never an outage', async (_, keeps) => {
  const { clock, servers, open, cycle } = scene(5);
  const lock = open();
  expect(await cycle(lock)).toBe(true);
  for (const server of servers) {
    server.restart(keeps);
    for (let spent = 0; spent < 20_000; spent += 250) {
      expect(await cycle(lock), `${spent} ms after the restart of ${servers.indexOf(server) + 1}`).toBe(true);
      await clock.advance(230);
    }
    expect(await cycle(open()), 'of a process that starts now').toBe(true);
  }
});

test('three of five, one right after the other, count again when the longest lease there may be is over, for every process', async () => {
  const { clock, servers, open, cycle } = scene(5);
  const lock = open();
  expect(await cycle(lock)).toBe(true);
  for (const server of servers.slice(0, 3)) {
    server.restart(true);
    await clock.advance(100);
  }
  const later = open();
  for (const each of [lock, later]) expect(await cycle(each), 'right after it').toBe(false);
  await clock.advance(60_000);
  for (const each of [lock, later]) expect(await cycle(each), 'before it is over').toBe(false);
  await clock.advance(11_000);
  for (const each of [lock, later]) expect(await cycle(each), 'when it is over').toBe(true);
});

test('a process that starts after a restart counts the forgetful node no sooner than one that has seen it', async () => {
  const { clock, servers, open, cycle } = scene(3);
  const lock = open();
  const held = claim({ ttl: 30_000 });
  expect((await lock.attempt(held)).granted).toBe(true);
  await clock.advance(5_000);
  for (const server of servers.slice(0, 2)) server.restart(false);
  expect(await cycle(open()), 'a second holder').toBe(false);
  await clock.advance(20_000);
  expect(await cycle(open()), 'a second holder, within the lease').toBe(false);
});

test('a node whose client is connected after its first use, and which forgets its votes, lets no second holder in', async () => {
  const { clock, servers, clients, open, cycle } = scene();
  expect(await cycle(open()), 'the quorum has been in use').toBe(true);
  const refused = (): Promise<never> => Promise.reject(meaning(closedError(), 'ask'));
  const over = (node: Backend, isConnected: () => boolean): Backend =>
    new Proxy(node, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' && !isConnected() ? refused : value;
      },
    });
  let connected = false;
  const [one, two, three] = clients() as [Backend, Backend, Backend];
  const lock = quorum([one, two, over(three, () => connected)], { clock });
  expect(await cycle(lock), 'two nodes are enough').toBe(true);
  connected = true;
  const [first, ...others] = clients() as [Backend, Backend, Backend];
  const holder = quorum([over(first, () => false), ...others], { clock });
  expect((await holder.attempt(claim())).granted, 'the holder has the other two').toBe(true);
  expect((await lock.attempt(claim({ ttl: 10_000, key: 'other' }))).granted, 'the run of the third is known').toBe(
    true,
  );
  servers[2]!.restart(false);
  expect(await cycle(lock), 'a second holder').toBe(false);
});

test('a node that freezes right after its grant keeps a vote open no longer than one that does not answer', async () => {
  const { clock, clients, cycle } = scene();
  const [one, two, three] = clients() as [Backend, Backend, Backend];
  let frozen = false;
  const hints: Hints = {
    read: (name) => three.hints!.read(name),
    write: (...note) => (frozen ? new Promise(() => {}) : three.hints!.write(...note)),
  };
  const lock = quorum([one, two, around(three, { hints })], { clock });
  expect(await cycle(lock)).toBe(true);
  expect((await two.attempt(claim())).granted, 'another caller has the second node').toBe(true);
  frozen = true;
  const refused = outcomeOf(lock.attempt(claim({ ttl: 20_000 }))); // the first lease so long, so the nodes have to note it
  await clock.advance(500);
  expect(refused, 'after the limit of a node').toEqual({ value: expect.objectContaining({ granted: false }) });
  await clock.advance(100);
  expect(await holders(one), 'the vote of the first node stays taken').toBe(0);
});

test.each([
  ['gave votes', false],
  ['renewed a hold', true],
])('an empty server that takes the address of a node, and began while that node still %s, does not count at once', async (_, renews) => {
  const { clock, servers, clients, open } = scene();
  await clock.advance(100_000);
  const [one, two, three] = clients() as [Backend, Backend, Backend];
  const fails = (): Promise<never> => Promise.reject(new Error('it is cut off'));
  const holder = quorum([one, two, around(three, { attempt: fails, renew: fails, release: fails })], { clock });
  const lock = open();
  const had = (at: Backend, key: string): Promise<boolean> =>
    at.attempt(claim({ ttl: 60_000, key })).then(
      ({ granted }) => granted,
      () => false,
    );
  const own = claim({ ttl: 60_000, key: 'own' });
  expect((await lock.attempt(own)).granted).toBe(true);
  for (const key of ['later', 'last']) {
    await clock.advance(50_000);
    if (renews) expect(await lock.renew([own])).toEqual([{ validFor: 60_000 }]);
    else expect(await had(lock, key), key).toBe(true);
  }
  expect(await had(holder, 'held'), 'on the first two nodes').toBe(true);
  await clock.advance(1_000);
  servers[0]!.replace(80_000);
  expect(await had(lock, 'held'), 'a second holder').toBe(false);
});

test('a node that keeps everything counts at once when it was restarted', async () => {
  const { servers, open, cycle } = scene(3);
  for (const server of servers) server.durable = true;
  const lock = open();
  expect(await cycle(lock)).toBe(true);
  for (const server of servers.slice(0, 2)) server.restart(true);
  for (const each of [lock, open()]) expect(await cycle(each)).toBe(true);
  // It says so, but nothing of it is there.
  for (const server of servers.slice(0, 2)) server.restart(false);
  for (const each of [lock, open()]) expect(await cycle(each)).toBe(false);
});

test('a node that comes back with the data of a run before the last one does not count at once', async () => {
  const { clock, servers, clients, open, cycle } = scene(3);
  for (const server of servers) server.durable = true;
  const lock = open();
  expect(await cycle(lock)).toBe(true);
  const { volume } = servers[0]!;
  servers[0]!.restart(false);
  for (let spent = 0; spent < 30_000; spent += 1_000) {
    expect(await cycle(lock), 'with the other two').toBe(true);
    await clock.advance(980);
  }
  const [one, two, three] = clients() as [Backend, Backend, Backend];
  const fails = (): Promise<never> => Promise.reject(new Error('it is cut off'));
  const holder = quorum([one, two, around(three, { attempt: fails, renew: fails, release: fails })], { clock });
  expect((await holder.attempt(claim())).granted, 'on the first two nodes').toBe(true);
  await clock.advance(1_000); // what it writes about its run has come
  servers[0]!.restart(volume);
  for (let spent = 0; spent < 5_000; spent += 1_000) {
    expect(await cycle(lock), 'a second holder').toBe(false);
    await clock.advance(980);
  }
});

test('two clients that are led to one server for a moment are refused for as long, and no longer', async () => {
  const names = ['a', 'b', 'c'];
  const nodes = names.map((_, i) => around(memory(), { incarnation: () => names[i]! }));
  const lock = quorum(nodes);
  const had = async (): Promise<boolean> => {
    const mine = claim();
    const { granted } = await lock.attempt(mine).catch(() => ({ granted: false }));
    await lock.release(mine).catch(() => {});
    return granted;
  };
  names[1] = 'a';
  await expect(lock.attempt(claim()), 'from the start').rejects.toMatchObject({ code: 'LOCK_INVALID' });
  names[1] = 'b';
  expect(await had(), 'when it is over').toBe(true);
  names[0] = 'c';
  names[1] = 'c';
  expect(await had(), 'with one server of three').toBe(false);
  names[0] = 'a';
  names[1] = 'b';
  expect(await had(), 'when that is over, too').toBe(true);
  expect(await Promise.all(nodes.map((node) => holders(node))), 'left').toEqual([0, 0, 0]);
  await lock.close();
});

/** As a process sees a server that dies when it has sent so many requests in all: of the last the answer does not come, the next are not sent. */
function dyingAfter(requests: number): { readonly count: () => number; mortal(client: Backend): Backend } {
  let sent = 0;
  const never = new Promise<never>(() => {});
  const dies =
    <A extends unknown[], T>(ask: (...args: A) => Promise<T>): ((...args: A) => Promise<T>) =>
    (...args) => {
      sent++;
      if (sent > requests) return never;
      const answer = ask(...args);
      return sent === requests ? never : answer;
    };
  const mortal = (client: Backend): Backend =>
    new Proxy(client, {
      get: (target, key) => {
        if (key === 'hints') {
          const hints = client.hints!;
          return { read: dies(hints.read.bind(hints)), write: dies(hints.write.bind(hints)) };
        }
        const value = Reflect.get(target, key);
        return key === 'attempt' || key === 'release' || key === 'renew'
          ? dies(value as () => Promise<unknown>)
          : value;
      },
    });
  return { count: () => sent, mortal };
}

test.each([
  ['', 0],
  [', one of which names no run,', 1],
  [', two of which name no run,', 2],
])('a new quorum%s whose first process dies at any moment is free for the next when the lease is over', async (_, nameless) => {
  for (let requests = 1, all = 2; requests < all; requests++) {
    const { clock, clients, cycle, open } = scene(3, nameless);
    const { count, mortal } = dyingAfter(requests);
    const first = quorum(clients().map(mortal), { clock });
    void first.attempt(claim({ ttl: 10_000, within: 1_000 })).catch(() => {});
    await clock.advance(15_000); // its lease, and the pauses of one who asks again
    all = count();
    const next = open();
    let free = await cycle(next);
    for (let attempts = 0; !free && attempts < 20; attempts++) {
      await clock.advance(600);
      free = await cycle(next);
    }
    expect(free, `after ${requests} of ${all} requests`).toBe(true);
    await Promise.all([first.close(), next.close()]);
  }
});

test('a new quorum whose nodes are heard one after the other is free for the next process when the lease is over', async () => {
  const { clock, servers, cycle, open } = scene();
  const slow = servers.map((server, i) => {
    const client = server.client(`s${i}`);
    const after = <T>(answer: Promise<T>): Promise<T> =>
      new Promise((resolve) => clock.after(1_000 + i * 8_000, () => resolve(answer), true));
    return new Proxy(client, {
      get: (target, key) => {
        const value = Reflect.get(target, key);
        if (key !== 'hints') return value;
        const hints = client.hints!;
        return { read: (name: string) => after(hints.read(name)), write: hints.write.bind(hints) };
      },
    });
  });
  const first = quorum(slow, { clock });
  for (let attempts = 0; attempts < 5; attempts++) {
    const mine = claim({ ttl: 10_000, within: 600 });
    void first.attempt(mine).catch(() => {});
    await clock.advance(800);
    void first.release(mine).catch(() => {});
  }
  await first.close();
  await clock.advance(15_000);
  const next = open();
  expect(await cycle(next)).toBe(true);
  await next.close();
});

test.each([
  [3, 1],
  [4, 2],
  [5, 2],
])('a new quorum of %i, %i of which name no run, serves as soon as the others have started, however late', async (count, nameless) => {
  const { clock, servers, clients, cycle } = scene(count, nameless);
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const lock = quorum(
    clients().map((client) => {
      const { incarnation } = client;
      return incarnation ? around(client, { incarnation: () => late.then(incarnation) }) : client;
    }),
    { clock },
  );
  for (let attempts = 0; attempts < 3; attempts++) {
    const mine = claim({ ttl: 10_000, within: 600 });
    void lock.attempt(mine).catch(() => {});
    await clock.advance(800);
    void lock.release(mine).catch(() => {});
  }
  for (const server of servers.slice(0, count - nameless)) server.restart(false);
  resolve();
  await clock.advance(1_000);
  expect(await cycle(lock)).toBe(true);
  await lock.close();
});

test('where a node that counts is lost, one that names no run and was not there before takes its place', async () => {
  const { clock, clients, cycle, open } = scene(3, 1);
  const before = open();
  expect(await cycle(before), 'of a process while all are there').toBe(true);
  await before.close();
  const lost = new Set([2]);
  const fails = (): Promise<never> => Promise.reject(new Error('it is lost'));
  const gone = { ...{ attempt: fails, renew: fails, release: fails }, hints: { read: fails, write: fails } };
  const mortal = (client: Backend, i: number): Backend =>
    new Proxy(client, { get: (_, key) => Reflect.get(lost.has(i) && key in gone ? gone : client, key) });
  const lock = quorum(clients().map(mortal), { clock });
  expect(await cycle(lock), 'two that name their runs').toBe(true);
  lost.delete(2);
  lost.add(0);
  // The one that is back is looked at by the first who asks.
  await cycle(lock);
  expect(await cycle(lock), 'one that names its run, and one that names none').toBe(true);
  await lock.close();
});

test('a lease whose note a restarted server answers, after another claim noticed the restart, is given to nobody else', async () => {
  const { clock, servers, clients, open } = scene();
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const taken = async (lock: Backend, ttl: number, key: string): Promise<void> => {
    expect((await during(lock.attempt(claim({ ttl, key })))).granted, key).toBe(true);
  };
  await clock.advance(100_000);
  // A process whose first node answers the note of a lease of 20 s late.
  const note = Promise.withResolvers<void>();
  const [first, ...others] = clients();
  const late = around(first!, {
    hints: {
      read: (hint) => first!.hints!.read(hint),
      async write(hint, ...rest) {
        if (hint.endsWith('lease/20000')) await note.promise;
        await first!.hints!.write(hint, ...rest);
      },
    },
  });
  const process = quorum([late, ...others], { clock });
  await taken(process, 1_000, 'before');
  // The holder has the votes of the first two nodes.
  const [one, two] = clients();
  const fails = (): Promise<never> => Promise.reject(new Error('it is cut off'));
  const cutOff = around(clients()[2]!, { attempt: fails, renew: fails, release: fails });
  await taken(quorum([one!, two!, cutOff], { clock }), 20_000, 'held');
  await clock.advance(1_000);
  void process.attempt(claim({ ttl: 20_000, key: 'noted' })).catch(() => {});
  await clock.advance(10);
  servers[0]!.restart(false);
  void process.attempt(claim({ ttl: 1_000, key: 'notices' })).catch(() => {});
  await clock.advance(10);
  note.resolve();
  await clock.advance(100);
  const second = during(open().attempt(claim({ ttl: 5_000, key: 'held' })));
  expect(await second.then(({ granted }) => granted).catch(() => false)).toBe(false);
});

test.each([
  ['known', true],
  ['not known', false],
])('a vote of a run that ended before its answer came, and was %s before, is not credited to the next run', async (_, known) => {
  const { clock, servers, clients, open } = scene();
  const [first, second, third] = clients() as [Backend, Backend, Backend];
  const after = (ms: number): Promise<void> => new Promise((done) => clock.after(ms, done, true));
  const never = (): Promise<never> => new Promise(() => {});
  const having = (client: Backend, more: Partial<Backend>): Backend =>
    new Proxy(client, { get: (target, name) => Reflect.get(name in more ? more : target, name) });
  await clock.advance(400_000); // so nobody waits for leases that were taken before
  let named = known;
  const attempt: Backend['attempt'] = async (asked) => {
    const answer = await first.attempt(asked);
    await after(1);
    servers[0]!.restart(false);
    named = true;
    await after(10);
    return answer;
  };
  const incarnation = async () => {
    if (!named) throw new Error('it is starting');
    return first.incarnation!();
  };
  const process = quorum(
    [
      having(first, { attempt, incarnation }),
      having(second, { attempt: (asked) => after(20).then(() => second.attempt(asked)) }),
      having(third, { attempt: never }),
    ],
    { clock },
  );
  const had = (lock: Backend): Promise<boolean> =>
    stepUntilEnd(
      lock.attempt(claim()).then(
        ({ granted }) => granted,
        () => false,
      ),
      () => clock.advance(1),
    );
  expect([await had(process), await had(open())], 'one of them, at most').not.toEqual([true, true]);
});

test('a vote counts only if the other nodes had noted its lease before it: a node that restarts after it waits for that lease', async () => {
  const { clock, servers, clients, open, cycle } = scene();
  const lock = open();
  expect(await cycle(lock), 'of 10 s, the longest lease so far').toBe(true);
  const [one, two, three] = clients() as [Backend, Backend, Backend];
  const late = async <T>(answer: Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => void clock.after(400, resolve));
    return answer;
  };
  const fails = () => Promise.reject(new Error('cut off'));
  const cutOff = around(three, { attempt: fails, renew: fails, release: fails });
  const holder = quorum([one, around(two, { attempt: (asked) => late(two.attempt(asked)) }), cutOff], { clock });
  const first = outcomeOf(holder.attempt(claim({ ttl: 10_000, key: 'first' })));
  await clock.advance(500);
  expect(first.value?.granted, 'the nodes are known, and the next token').toBe(true);
  const held = outcomeOf(holder.attempt(claim({ ttl: 60_000, key: 'held' })));
  await clock.advance(20);
  servers[0]!.restart(false);
  await clock.advance(10);
  await lock.attempt(claim({ ttl: 10_000, key: 'other' })).catch(() => {});
  await clock.advance(400);
  expect(held.value?.granted, 'the hold, with the votes of the first two nodes').toBe(true);
  await clock.advance(10_200);
  const second = await lock.attempt(claim({ ttl: 10_000, key: 'held' }));
  expect(second.granted, 'a second holder').toBe(false);
});

test('a node that restarts empty while another waits for the lease that it remembered lets no second holder in, although its hints are read before its run is known', async () => {
  const { clock, servers, clients, open } = scene();
  const [one, two, three] = clients() as [Backend, Backend, Backend];
  const had = (at: Backend, key: string, ttl = 1_000): Promise<boolean> =>
    stepUntilEnd(
      at.attempt(claim({ ttl, key })).then(
        ({ granted }) => granted,
        () => false,
      ),
      () => clock.advance(1),
    );
  expect(await had(open(), 'before'), 'so all nodes count').toBe(true);
  const fails = (): Promise<never> => Promise.reject(new Error('it is cut off'));
  const cutOff = { attempt: fails, renew: fails, release: fails, hints: { read: fails, write: fails } };
  expect(await had(quorum([one, two, around(three, cutOff)], { clock }), 'held', 60_000)).toBe(true);
  // The node names its run once per connection, and takes 10 ms for that, as Redis does.
  let known = two.incarnation!();
  const incarnation = async (): Promise<Run> => {
    await new Promise<void>((resolve) => void clock.after(10, resolve));
    known = two.incarnation!();
    return known as Run;
  };
  const named = around(two, { incarnation: () => (known === two.incarnation!() ? known : incarnation()) as Run });
  const lock = quorum([clients()[0]!, named, clients()[2]!], { clock });
  expect(await had(lock, 'other'), 'the runs of all nodes are known').toBe(true);
  servers[0]!.restart(false);
  expect(await had(lock, 'held'), 'the first node waits').toBe(false);
  await clock.advance(3_000);
  servers[1]!.restart(false);
  void lock.attempt(claim({ ttl: 1_000, key: 'third' })).catch(() => {});
  await clock.advance(1);
  void lock.attempt(claim({ ttl: 1_000, key: 'fourth' })).catch(() => {});
  for (let spent = 0; spent < 5_000; spent += 500) {
    await clock.advance(500);
    expect(await had(lock, 'held'), 'a second holder').toBe(false);
  }
});

test('nodes that are full vote as long as they have the note of the lease, also when it should be written again', async () => {
  const { clock, clients, cycle } = scene();
  let full = false;
  const write = (hints: Hints, ...note: Parameters<Hints['write']>): Promise<void> =>
    full ? Promise.reject(meaning(new Error('OOM command not allowed'), 'keep a hint')) : hints.write(...note);
  const nodes = clients().map((each) => {
    const { hints } = each;
    return around(each, { hints: { read: hints!.read, write: (...note) => write(hints!, ...note) } });
  });
  const lock = quorum(nodes, { clock });
  expect(await cycle(lock)).toBe(true);
  full = true;
  await clock.advance(7 * 3_600_000);
  for (let i = 0; i < 3; i++) expect(await cycle(lock), 'after seven hours').toBe(true);
  await clock.advance(4 * 3_600_000);
  expect(await cycle(lock), 'after eleven hours').toBe(true);
});
