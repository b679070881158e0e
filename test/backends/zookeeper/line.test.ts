import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { type Demand, EXCLUSIVE, SHARED } from '../../../src/core/contract/admission.ts';
import type { Attempt, Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { exchange, HOST } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';

/** Long enough that no sign of life is among what is counted. ms. */
const SESSION = 40_000;

/** A claim that stands in line and hears by its watch alone: nobody asks by a timer. */
class Waiter {
  readonly admitted: Promise<Grant>;
  /** How often it was told anything. */
  wakes = 0;
  readonly #claim: Claim;
  readonly #backend: Backend;
  #admit!: (grant: Grant) => void;
  #watch?: AsyncDisposable;

  constructor(backend: Backend, key: string, demand: Demand, label = '') {
    const common = { ttl: SESSION, queue: true, tokenCount: 1, within: 5_000, label };
    this.#claim = { key, id: systemClock.id(), ...demand, ...common };
    this.#backend = backend;
    this.admitted = new Promise((resolve) => {
      this.#admit = resolve;
    });
  }

  async join(): Promise<this> {
    const answer = await this.#backend.attempt(this.#claim);
    if (answer.granted) this.#admit(answer);
    else {
      this.#watch = await this.#backend.watch!(this.#claim, (grant) => {
        this.wakes++;
        if (grant) this.#admit(grant);
      });
    }
    return this;
  }

  /** Asks as core does by its timer. */
  asks(): Promise<Attempt> {
    return this.#backend.attempt(this.#claim);
  }

  async leave(): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    expect(await this.#backend.release(this.#claim)).toMatchObject({ freed: true });
  }
}

describeOn('zookeeper', 'a line', () => {
  let server: Server;
  const clients: Backend[] = [];
  beforeAll(async () => {
    server = await startZookeeper();
    for (let i = 0; i < 20; i++) {
      clients.push(zookeeper({ servers: `${HOST}:${server.port}`, sessionTimeout: SESSION }));
    }
  }, 60_000);
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server?.[Symbol.asyncDispose]();
  });

  const join = (at: number, key: string, demand: Demand) => new Waiter(clients[at]!, key, demand).join();
  const says = async (word: string, pattern: RegExp) => Number(pattern.exec(await exchange(server.port, word))?.[1]);

  test('of a writer, a reader and a reader, the second reader is notified when the writer leaves', async () => {
    const writer = await join(0, 'wrr', EXCLUSIVE);
    const readers = [await join(1, 'wrr', SHARED), await join(2, 'wrr', SHARED)];
    await writer.leave();
    for (const reader of readers) await settleWithin('a reader is admitted', reader.admitted);
    for (const reader of readers) await reader.leave();
  });

  test.for([
    ['mutexes', EXCLUSIVE, 1],
    ['permits of two', { units: 1, capacity: 2 }, 2],
  ] as const)('of many waiting %s each departure wakes one, and costs it one look', async ([kind, demand, room]) => {
    const key = `many/${kind}`;
    const line: Waiter[] = [];
    for (let i = 0; i < clients.length; i++) line.push(await join(i, key, demand));
    if (room === 1) {
      expect(await says('wchs', /Total watches:(\d+)/), 'one watch for each who waits').toBe(line.length - room);
      expect(await says('wchs', /watching (\d+) paths/), 'each on a node of its own').toBe(line.length - room);
    }
    for (const waiter of line.slice(0, room)) await waiter.admitted;
    for (const waiter of line) waiter.wakes = 0;
    const before = await says('srvr', /Received: (\d+)/);
    for (const [at, waiter] of line.entries()) {
      await waiter.leave();
      const next = line[at + room];
      if (next) await settleWithin('the next is admitted', next.admitted);
    }
    const requests = (await says('srvr', /Received: (\d+)/)) - before;
    expect(
      line.reduce((sum, { wakes }) => sum + wakes, 0),
      'wakes',
    ).toBe(line.length - room);
    // A mutex: its delete and one read of the next. Permits: whoever moves up is told by a write, reads, and watches.
    const most = room === 1 ? 2 : 6;
    expect(requests / line.length, 'requests a hand-over').toBeLessThanOrEqual(most);
  });

  test('a permit gets its turn in time, though the link of the permit before it is cut as that one makes the turn known', async () => {
    await using proxy = await startProxy(server.port);
    const cutOff = zookeeper({ servers: `${HOST}:${proxy.port}`, sessionTimeout: SESSION });
    const [all, one] = [2, 1].map((units) => ({ units, capacity: 2 })) as [Demand, Demand];
    const holder = await join(0, 'cut', all);
    const first = await new Waiter(cutOff, 'cut', one, 'the first permit').join();
    const second = await join(1, 'cut', one);
    const cut = proxy.cutBefore('the first permit'); // the node of the first permit is written again
    await holder.leave();
    await settleWithin('the first permit is admitted', first.admitted);
    await settleWithin('the link is cut', cut);
    await until('the second permit is admitted', async () => (await second.asks()).granted, 2_000);
    for (const permit of [first, second]) await permit.leave();
    await cutOff.close();
  });

  test('whoever has given up is forgotten, however long the holder stays', async () => {
    const holder = await join(0, 'long', EXCLUSIVE);
    const waits = async (): Promise<WeakRef<Waiter>> => {
      const waiter = await join(1, 'long', EXCLUSIVE);
      await waiter.leave();
      return new WeakRef(waiter);
    };
    const gone: WeakRef<Waiter>[] = [];
    while (gone.length < 30) gone.push(await waits());
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(gone.filter((waiter) => waiter.deref()).length, 'of 30').toBeLessThan(5);
    await holder.leave();
  });

  test('whoever gives up in the middle wakes only the one behind, who goes on waiting', async () => {
    const line: Waiter[] = [];
    for (let i = 0; i < 6; i++) line.push(await join(i, 'middle', EXCLUSIVE));
    const before = await says('srvr', /Received: (\d+)/);
    await line[2]!.leave();
    await line[0]!.leave();
    await settleWithin('the second is admitted', line[1]!.admitted);
    // Two deletes, one look of the second; of the fourth a look and a new watch.
    expect((await says('srvr', /Received: (\d+)/)) - before).toBeLessThanOrEqual(6);
    expect(line.map(({ wakes }) => wakes)).toEqual([0, 1, 0, 0, 0, 0]);
    await line[1]!.leave();
    await settleWithin('the fourth is admitted', line[3]!.admitted);
    for (const waiter of line.slice(3)) await waiter.leave();
  });
});
