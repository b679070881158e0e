import type { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from '../../../src/connect/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { isLockError } from '../../../src/core/contract/errors.ts';
import { startProxy } from '../../kit/proxy.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

const unavailable = (error: unknown): boolean => isLockError(error, 'LOCK_UNAVAILABLE');
const outcome = (work: Promise<unknown>): Promise<unknown> => work.then(undefined, (error) => error);

describeOn('redis', 'redis under faults', () => {
  let server: Server;
  let fleet: Fleet;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    await askRedis(server.port, 'FLUSHALL');
    fleet = new Fleet(server.port);
  });
  afterEach(() => fleet[Symbol.asyncDispose]());

  /** Ends connections as the network would: those that listen, or those that do not. */
  const cut = (type: 'pubsub' | 'normal'): Promise<string> => askRedis(server.port, `CLIENT KILL TYPE ${type}`);

  const working = async (backend: Backend): Promise<void> => {
    await until('the client is connected again', async () => {
      const claim = wish('working');
      granted(await backend.attempt(claim));
      return (await backend.release(claim)).freed;
    });
  };

  for (const library of LIBRARIES) {
    test(`${library}: a grant whose reply was lost is found again with the same token`, async () => {
      await using proxy = await startProxy(server.port);
      await using far = new Fleet(proxy.port);
      const backend = await far.backend(library);
      const claim = wish('lost-reply');
      await working(backend);
      const lost = proxy.cutAfter(claim.id);
      const first = await outcome(backend.attempt(claim));
      await lost;
      expect(isLockError(first), `unknown, not definite: ${first}`).toBe(false);
      const again = granted(await backend.attempt(claim));
      const other = await (await fleet.backend()).attempt(wish('lost-reply', { queue: false }));
      expect(other.granted).toBe(false);
      expect(granted(await backend.attempt(claim)).token).toBe(again.token);
      expect(await backend.release(claim)).toEqual({ freed: true, next: undefined });
    });

    test(`${library}: a request that was cut before the server took nothing`, async () => {
      await using proxy = await startProxy(server.port);
      await using far = new Fleet(proxy.port);
      const backend = await far.backend(library);
      const claim = wish('cut-before');
      await working(backend);
      const lost = proxy.cutBefore(claim.id);
      await outcome(backend.attempt(claim));
      await lost;
      // Whatever the client sends again by itself is the same claim: released, nothing of it is left.
      await backend.release(claim);
      granted(await (await fleet.backend()).attempt(wish('cut-before')));
    });

    test(`${library}: an attempt that arrives after its time is refused and leaves nothing`, async () => {
      await using proxy = await startProxy(server.port);
      await using far = new Fleet(proxy.port);
      const backend = await far.backend(library);
      await working(backend);
      proxy.stall('up');
      const late = backend.attempt(wish('late', { within: 100 }));
      const other = await fleet.backend();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await proxy.pass();
      expect(await late).toEqual({ granted: false, late: true });
      granted(await other.attempt(wish('late', { queue: false })));
    });

    test(`${library}: so is the very first one, and nothing of it comes after its release`, async () => {
      await using proxy = await startProxy(server.port);
      await using far = new Fleet(proxy.port);
      const backend = await far.backend(library);
      proxy.stall('up');
      const claim = wish('first', { within: 100 });
      const late = backend.attempt(claim);
      const released = backend.release(claim);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await proxy.pass();
      expect((await released).freed).toBe(false);
      expect(await late).toEqual({ granted: false, late: true });
      granted(await (await fleet.backend()).attempt(wish('first', { queue: false })));
    });

    test(`${library}: the scripts may be flushed between any two calls`, async () => {
      const backend = await fleet.backend(library);
      const claim = wish('flush');
      const waiter = wish('flush');
      const flush = (): Promise<string> => askRedis(server.port, 'SCRIPT FLUSH');
      granted(await backend.attempt(claim));
      await flush();
      expect((await backend.attempt(waiter)).granted).toBe(false);
      await flush();
      expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
      await flush();
      const { freed, next } = await backend.release(claim, wish('flush'));
      expect([freed, next?.granted]).toEqual([true, false]);
      await flush();
      granted(await backend.attempt(waiter));
    });

    test(`${library}: its listening connection lost alone is opened again, and everyone is woken`, async () => {
      const backend = await fleet.backend(library);
      const holder = wish('deaf');
      const waiter = wish('deaf');
      await using mail = await Mail.of(backend, waiter);
      granted(await backend.attempt(holder));
      expect((await backend.attempt(waiter)).granted).toBe(false);
      await cut('pubsub');
      expect(await mail.next(), 'a wake without a grant: what was told meanwhile went unheard').toBeUndefined();
      expect((await backend.attempt(waiter)).granted).toBe(false);
      await backend.release(holder);
      expect((await mail.next())?.token).toBe(granted(await backend.attempt(waiter)).token);
    });

    test(`${library}: a listening connection that is lost as it opens is given up at once`, async () => {
      await using proxy = await startProxy(server.port);
      await using far = new Fleet(proxy.port);
      const backend = await far.backend(library);
      await working(backend);
      const lost = proxy.cutBefore('subscribe');
      const began = performance.now();
      await Mail.of(backend, wish('opening')).catch(() => {});
      await lost;
      await using _mail = await Mail.of(backend, wish('opening'));
      expect(performance.now() - began, 'ms without a channel').toBeLessThan(4_500);
    });

    test(`${library}: who begins to wait between a loss and the next channel hears of its turn`, async () => {
      const backend = await fleet.backend(library);
      const [holder, waiter] = [wish('between'), wish('between')];
      await using _mail = await Mail.of(backend, wish('between'));
      granted(await backend.attempt(holder));
      await cut('pubsub');
      const wakes: unknown[] = [];
      let watch: AsyncDisposable | Promise<AsyncDisposable> | undefined;
      await until('the loss is known', async () => {
        if (watch && !(watch instanceof Promise)) await watch[Symbol.asyncDispose]();
        watch = backend.watch!(waiter, (grant) => wakes.push(grant));
        return watch instanceof Promise;
      });
      const codes = (await backend.check!()).map(({ code }) => code);
      expect(codes, 'no right is missing').not.toContain('rights');
      await using _armed = await watch!;
      expect((await backend.attempt(waiter)).granted).toBe(false);
      await backend.release(holder);
      await until('it is told', () => wakes.length > 0);
    });

    test(`${library}: a release while nobody could listen is found by the next attempt`, async () => {
      const backend = await fleet.backend(library);
      const other = await fleet.backend();
      const holder = wish('unheard');
      const waiter = wish('unheard');
      granted(await other.attempt(holder));
      await using mail = await Mail.of(backend, waiter);
      expect((await backend.attempt(waiter)).granted).toBe(false);
      await cut('pubsub');
      await other.release(holder);
      await mail.next();
      granted(await backend.attempt(waiter));
    });

    test(`${library}: after its owner closed the client, calls fail at once and say why`, async () => {
      const backend = await fleet.backend(library);
      const client = await fleet.client(library);
      const closed = fleet.over(client);
      await working(closed);
      await (client as Redis).quit(); // both libraries have it
      await until('it is closed', () => ('status' in client ? client.status === 'end' : !client.isOpen));
      const error = await settleWithin('the refusal', outcome(closed.attempt(wish('closed'))));
      expect(unavailable(error), String(error)).toBe(true);
      expect(String(error)).toMatch(/closed/);
      await closed.close();
      await working(backend);
    });

    test(`${library}: nor is anything taken over the connection for replicas then, which could not be given back`, async () => {
      const { client, end } = await fleet.open(library);
      const backend = fleet.over(client, { replicas: { acknowledge: 1, within: 1 } });
      const refusal = { code: 'LOCK_UNAVAILABLE' };
      await expect(backend.attempt(wish('lonely'))).rejects.toMatchObject(refusal); // there are no replicas
      await end();
      await until('it is closed', () => ('status' in client ? client.status === 'end' : !client.isOpen));
      await expect(backend.attempt(wish(`${library} left`))).rejects.toMatchObject(refusal);
      granted(await (await fleet.backend(library)).attempt(wish(`${library} left`)));
    });

    test(`${library}: close leaves the client open and ends the listening connection`, async () => {
      const client = await fleet.client(library);
      const backend = fleet.over(client);
      await using _ = await Mail.of(backend, wish('close'));
      await until(
        'it listens',
        async () => (await askRedis(server.port, 'PUBSUB CHANNELS holdfast:wake:*')) !== '*0\r\n',
      );
      await backend.close();
      await until('it listens no more', async () => (await askRedis(server.port, 'PUBSUB CHANNELS *')) === '*0\r\n');
      await working(fleet.over(client));
    });

    test(`${library}: a paused server answers late, and nothing is lost`, async () => {
      const backend = await fleet.backend(library);
      await working(backend);
      await askRedis(server.port, 'CLIENT PAUSE 300 ALL');
      granted(await backend.attempt(wish('paused')));
    });
  }

  test('a restart without data: the old hold is gone, and the next token is still higher', async () => {
    await using own = await startRedis();
    await using near = new Fleet(own.port);
    const backend = await near.backend();
    const before = wish('wiped', { tokenCount: 64 });
    const { token } = granted(await backend.attempt(before));
    await own.restart({ wipe: true });
    await working(backend);
    expect(await backend.renew([before])).toEqual(['gone']);
    expect(granted(await backend.attempt(wish('wiped'))).token).toBeGreaterThan(token + 64n);
  });

  test('a restart with data: hold and place are as they were', async () => {
    await using own = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
    await using near = new Fleet(own.port);
    const backend = await near.backend();
    const [holder, waiter] = [wish('kept'), wish('kept')];
    const { token } = granted(await backend.attempt(holder));
    await backend.attempt(waiter);
    await own.restart();
    await working(backend);
    expect(granted(await backend.attempt(holder)).token).toBe(token);
    await backend.release(holder);
    expect(granted(await backend.attempt(waiter)).token).toBeGreaterThan(token);
  });

  test('node-redis before 6.3, which says only by an error that its listening connection ended, opens it again too', async () => {
    const client = await fleet.client('node-redis');
    const { duplicate } = client as { duplicate(options?: object): EventEmitter };
    Object.assign(client, {
      duplicate(options: object) {
        const own = duplicate.call(client, options);
        const emit = own.emit.bind(own);
        return Object.assign(own, {
          emit: (name: string, ...rest: never[]) => name !== 'terminated' && emit(name, ...rest),
        });
      },
    });
    await using mail = await Mail.of(fleet.over(client), wish('older'));
    await cut('pubsub');
    expect(await mail.next(), 'a wake without a grant: what was told meanwhile went unheard').toBeUndefined();
  });

  test('dead waiters are passed over in the step that releases, with not one command more', async () => {
    const backend = await fleet.backend();
    const dying = await fleet.backend();
    const holder = wish('dead-head');
    const last = wish('dead-head');
    granted(await backend.attempt(holder));
    const dead = Array.from({ length: 20 }, () => wish('dead-head'));
    for (const claim of dead) {
      await Mail.of(dying, claim);
      expect((await dying.attempt(claim)).granted).toBe(false);
    }
    await using mail = await Mail.of(backend, last);
    expect((await backend.attempt(last)).granted).toBe(false);
    await dying.close();
    await until('one listener is left', async () => /^\*1\r\n/.test(await askRedis(server.port, 'PUBSUB CHANNELS *')));
    await askRedis(server.port, 'CONFIG RESETSTAT');
    await backend.release(holder);
    expect(await mail.next(), 'the living one has it by mail').toBeDefined();
    const stats = await askRedis(server.port, 'INFO commandstats');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('1');
  });

  test('check of a server that went away says that it does not answer, and advises no rights', async () => {
    await using proxy = await startProxy(server.port);
    await using locks = await connect(`redis://${proxy.host}:${proxy.port}`);
    proxy.refuse();
    proxy.cut();
    const found = await locks.check();
    await proxy.pass();
    expect(found.map(({ code }) => code)).toContain('not-checked');
    expect(found.map(({ advice }) => advice).join()).not.toMatch(/grant/);
  });
});
