import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { meanwhile } from '../../../products/testing/limited.ts';
import { Admissions } from '../../../src/backends/zookeeper/admissions.ts';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { settingsOf } from '../../../src/backends/zookeeper/options.ts';
import { OwnNodes } from '../../../src/backends/zookeeper/own-nodes.ts';
import { ConnectionLost } from '../../../src/backends/zookeeper/wire/errors.ts';
import type { CreatedNode } from '../../../src/backends/zookeeper/wire/operations.ts';
import { ZooKeeperSession } from '../../../src/backends/zookeeper/wire/session.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import { createLocks, type Locks, type LocksDefaults } from '../../../src/index.ts';
import { exchange, HOST } from '../../kit/net.ts';
import { startWorker } from '../../kit/processes.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { startZookeeper, startZookeeperMembers } from '../../kit/zookeeper.ts';
import type { HolderCalls } from './holder.worker.ts';

const open: Locks[] = [];
function client(servers: string, sessionTimeout: number, defaults?: LocksDefaults): Locks {
  const locks = createLocks(zookeeper({ servers, sessionTimeout }), defaults);
  open.push(locks);
  return locks;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((locks) => locks.close()));
});

const standings = async (locks: Locks, key: string) => {
  const found = [];
  for await (const standing of locks.inspect(key)) found.push(standing);
  return found;
};

describeOn('zookeeper', 'one server that can be hard to reach', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startZookeeper({ tickTime: '200' });
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test.for([
    'cutBefore',
    'cutAfter',
  ] as const)('a connection that is cut (%s) in an acquire costs a retry, no ghost', async (cut) => {
    await using proxy = await startProxy(server.port);
    await using locks = client(`${HOST}:${proxy.port}`, 5_000);
    await using other = client(`${HOST}:${server.port}`, 5_000);
    const key = `reply/${cut}`;
    await locks.mutex(key).run(() => {}); // connected, and the parents are there
    const cutting = proxy[cut]('-lock-');
    const lease = await locks.mutex(key).acquire({ wait: 5_000 });
    await settleWithin('the cut', cutting);
    expect(await standings(other, key), 'the node whose creation was not answered, and no other').toMatchObject([
      { held: true, token: lease.token },
    ]);
    expect(await lease.release()).toBe(true);
    expect(await standings(other, key)).toEqual([]);
  });

  /** What a process of this engine is made of, and two of its claims. */
  function parts(key: string) {
    const settings = settingsOf({ servers: `${HOST}:${server.port}`, sessionTimeout: 5_000 });
    const { clock } = settings;
    const own = new OwnNodes(settings.root, settings.acl);
    const admissions = new Admissions(own, clock);
    const session = new ZooKeeperSession(settings, { onConnection() {}, onExpiry() {}, doubtful() {} });
    const rest = { ...EXCLUSIVE, ttl: 60_000, queue: true, tokenCount: 1, within: 5_000, label: '' };
    const claims = [clock.id(), clock.id()].map((id) => ({ key, id, ...rest }));
    return { own, admissions, session, clock, claims };
  }

  test('a notification grants no more time than the session has, though the attempt that made the node was cut', async () => {
    const { own, admissions, session, clock, claims } = parts('cut attempt');
    const [earlier, claim] = claims;
    const first = await session.connection(5_000);
    await admissions.attempt(first, earlier!, clock.now());
    await own.withdraw(first, earlier!); // its parent is there
    const request = first.request.bind(first);
    first.request = async <T>(...asked: Parameters<typeof request<T>>): Promise<T> => {
      const answer = await request(...asked);
      const isMade = (answer as Partial<CreatedNode> | undefined)?.path !== undefined;
      if (!first.alive) throw new ConnectionLost('cut'); // the listing that was sent with the creation
      if (isMade) first.end(new ConnectionLost('cut'));
      return answer;
    };
    const began = clock.now();
    await expect(admissions.attempt(first, claim!, began)).rejects.toThrow('cut');
    const second = await session.connection(5_000);
    const { validFor } = (await admissions.look(second, claim!, () => {}))!;
    expect(validFor, 'the hold, from its attempt on').toBeLessThanOrEqual(second.sureUntil - began);
    expect(own.get(claim!.id, second.session)!.made, 'when its creation was sent').toBe(began);
    await own.withdraw(second, claim!);
    await session.close();
  });

  test('an attempt after a notified grant grants the time from that attempt on, though its listing is older than the grant', async () => {
    const { own, admissions, session, clock, claims } = parts('older listing');
    const [holder, waiter] = claims;
    const connection = await session.connection(5_000);
    await admissions.attempt(connection, holder!, clock.now());
    const stand = own.stand.bind(own);
    let before!: Awaited<ReturnType<typeof stand>>;
    own.stand = async (...asked) => (before = await stand(...asked));
    expect(await admissions.attempt(connection, waiter!, clock.now())).toMatchObject({ granted: false });
    await own.withdraw(connection, holder!);
    expect(await admissions.look(connection, waiter!, () => {}), 'the notification').toMatchObject({ granted: true });
    own.stand = async () => before;
    const began = clock.now();
    const attempt = await admissions.attempt(connection, waiter!, began);
    if (!attempt.granted) expect.fail('it is refused, so core counts the notified grant from this attempt on');
    expect(attempt.validFor, 'the hold, from its attempt on').toBeLessThanOrEqual(connection.sureUntil - began);
    await own.withdraw(connection, waiter!);
    await session.close();
  });

  test('a waiter without a limit whose process stands still for 14 s waits on, and is the next', {
    timeout: 60_000,
  }, async () => {
    const servers = `${HOST}:${server.port}`;
    await using locks = client(servers, 4_000);
    await using worker = await startWorker<HolderCalls>(new URL('holder.worker.ts', import.meta.url));
    const lease = await locks.mutex('still').acquire();
    const waiting = worker.call('take', servers, 'still', 4_000);
    waiting.catch(() => {}); // it is looked at below
    await until('it waits', async () => (await standings(locks, 'still')).length === 2);
    worker.pause();
    await new Promise((resolve) => setTimeout(resolve, 14_000)); // the time is what this is about
    worker.resume();
    await until('it waits again', async () => (await standings(locks, 'still')).length === 2);
    await lease.release();
    expect(await settleWithin('its turn', waiting, 10_000)).toBeGreaterThan(lease.token);
    await worker.call('close');
  });

  test.for([
    'cutBefore',
    'cutAfter',
  ] as const)('a connection that is cut (%s) in a release leaves nothing behind', async (cut) => {
    await using proxy = await startProxy(server.port);
    await using locks = client(`${HOST}:${proxy.port}`, 5_000);
    await using other = client(`${HOST}:${server.port}`, 5_000);
    const key = `release/${cut}`;
    const lease = await locks.mutex(key).acquire({ wait: 5_000 });
    const cutting = proxy[cut]('-lock-');
    await lease.release();
    await settleWithin('the cut', cutting);
    await (await other.mutex(key).acquire({ wait: 3_000 })).release();
    await until('nothing is left', async () => (await standings(other, key)).length === 0);
  });

  test('out of reach, a holder knows that it has lost before anybody else can have it', async () => {
    await using proxy = await startProxy(server.port);
    await using locks = client(`${HOST}:${proxy.port}`, 2_000);
    await using other = client(`${HOST}:${server.port}`, 2_000);
    const lease = await locks.mutex('cut off').acquire();
    const next = other.mutex('cut off').acquire({ wait: 10_000 });
    const lost = new Promise<number>((resolve) => {
      lease.signal.addEventListener('abort', () => resolve(performance.now()));
    });
    proxy.blackhole();
    const granted = await next.then(() => performance.now());
    expect(lease.held).toBe(false);
    expect(await lost).toBeLessThan(granted);
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    expect((await next).token).toBeGreaterThan(lease.token);
    await proxy.pass();
    expect(await lease.release()).toBe(false);
    expect((await next).held).toBe(true);
  });

  test('a holder that is stopped past its session finds out at its first look', async () => {
    await using worker = await startWorker<HolderCalls>(new URL('holder.worker.ts', import.meta.url));
    const servers = `${HOST}:${server.port}`;
    const token = await worker.call('take', servers, 'stopped', 2_000);
    await using other = client(servers, 2_000);
    worker.pause();
    const next = await other.mutex('stopped').acquire({ wait: 15_000 });
    expect(next.token).toBeGreaterThan(token);
    worker.resume();
    expect(await worker.call('held')).toBe(false);
    await until('the loss is told', async () => (await worker.call('whyLost')) === 'LOCK_LOST');
    expect(next.held).toBe(true);
    await worker.call('close');
  });

  test('after a stall of the event loop the clock decides, not the timers that have not run', async () => {
    await using worker = await startWorker<HolderCalls>(new URL('holder.worker.ts', import.meta.url));
    await worker.call('take', `${HOST}:${server.port}`, 'stalled', 1_000);
    expect(await worker.call('heldAfter', 0)).toBe(true);
    expect(await worker.call('heldAfter', 1_500)).toBe(false);
    await worker.call('close');
  });

  test('a killed holder is replaced when its session is over', async () => {
    await using worker = await startWorker<HolderCalls>(new URL('holder.worker.ts', import.meta.url));
    const servers = `${HOST}:${server.port}`;
    await worker.call('take', servers, 'killed', 1_000);
    const next = client(servers, 1_000).mutex('killed').acquire({ wait: 10_000 });
    await worker.kill();
    await next;
  });

  test('a server that comes back without its data serves also those who have seen more than it has', async () => {
    await using forgetful = await startZookeeper({ tickTime: '200' });
    const locks = client(`${HOST}:${forgetful.port}`, 1_000);
    for (let turn = 0; turn < 20; turn++) await locks.mutex('forgotten').run(() => {});
    const lease = await locks.mutex('forgotten').acquire();
    await forgetful.restart({ wipe: true });
    await locks.mutex('forgotten').run(() => {}, { wait: 10_000 });
    expect(lease.held).toBe(false);
  });

  test('a hold outlasts its ttl and its session timeout, renewed or, without renewal, until the ttl', async () => {
    await using locks = client(`${HOST}:${server.port}`, 3_000);
    const renewed = await locks.mutex('renewed').acquire({ ttl: 4_000 });
    const plain = await locks.mutex('not renewed').acquire({ ttl: 9_000, renew: false, notice: 0 });
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    expect(plain.held).toBe(true);
    await until('its ttl is over', () => !plain.held);
    expect(renewed.held).toBe(true);
    await until(
      'the hold that was not renewed is given up',
      async () => (await standings(locks, 'not renewed')).length === 0,
    );
  });

  test('a hold that has once been renewed is notified at once that somebody has removed it', async () => {
    await using locks = client(`${HOST}:${server.port}`, 16_000); // renewed every four seconds
    await using other = client(`${HOST}:${server.port}`, 5_000);
    const lease = await locks.mutex('robbed').acquire();
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    expect(lease.held).toBe(true);
    await other.forceRelease('robbed', { reason: 'test' });
    await until('the loss is told', () => lease.signal.aborted, 3_000);
    expect(lease.held).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
  });
});

describeOn('zookeeper', 'three members of which the leader fails', () => {
  let members: Servers;
  beforeAll(async () => {
    members = await startZookeeperMembers(3, { tickTime: '500', syncLimit: '4' });
  }, 60_000);
  afterAll(() => members?.[Symbol.asyncDispose]());

  const leader = async (): Promise<Server> => {
    for (const server of members.servers) {
      if (server.alive && /Mode: leader/.test(await exchange(server.port, 'srvr').catch(() => ''))) return server;
    }
    throw new Error('no leader');
  };

  describe.each([
    ['kill −9', (server: Server) => server.kill(), (server: Server) => server.restart()],
    ['SIGSTOP', async (server: Server) => server.pause(), async (server: Server) => server.resume()],
  ] as const)('%s of the leader', (how, hurt, heal) => {
    test('holds and places survive it, and the line goes on', { timeout: 60_000 }, async () => {
      const servers = members.servers.map(({ port }) => `${HOST}:${port}`).join();
      const clients = [1, 2, 3].map(() => client(servers, 20_000));
      const key = `leader/${how}`;
      const lease = await clients[0]!.mutex(key).acquire();
      const second = meanwhile(clients[1]!.mutex(key).acquire({ wait: 40_000 }));
      await until('the second waits', async () => (await standings(clients[2]!, key)).length === 2);
      const third = meanwhile(clients[2]!.mutex(key).acquire({ wait: 40_000 }));
      await until('the third waits', async () => (await standings(clients[1]!, key)).length === 3);
      const hurting = await leader();
      await hurt(hurting);
      try {
        await until('a new leader', async () => (await leader().catch(() => hurting)) !== hurting, 30_000);
        expect(lease.held, 'the holder kept its session').toBe(true);
        await lease.release(); // where nobody answers in time it goes on in the background
        const next = await second;
        expect(next.token).toBeGreaterThan(lease.token);
        await next.release();
        const last = await third;
        expect(last.token).toBeGreaterThan(next.token);
        await last.release();
      } finally {
        await heal(hurting);
      }
      await until(
        'all members serve again',
        async () => {
          const modes = await Promise.all(members.servers.map(({ port }) => exchange(port, 'srvr').catch(() => '')));
          return modes.every((mode) => /Mode: (leader|follower)/.test(mode));
        },
        30_000,
      );
    });
  });
});
