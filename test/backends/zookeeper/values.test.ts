import { hash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import type { ZookeeperValues } from '../../../src/backends/zookeeper/values.ts';
import type { ZooKeeperConnection } from '../../../src/backends/zookeeper/wire/connection.ts';
import { Code } from '../../../src/backends/zookeeper/wire/errors.ts';
import {
  createPersistent,
  getChildren,
  multi,
  OPEN,
  remove,
  setData,
} from '../../../src/backends/zookeeper/wire/operations.ts';
import { ZooKeeperSession } from '../../../src/backends/zookeeper/wire/session.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim, Grant, ValueCondition } from '../../../src/core/contract/backend.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { LockError } from '../../../src/core/contract/errors.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { exchange, HOST } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';
import { waiterGetsUnkept } from '../../memo/unkept.ts';

const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
/** It is not answered, so it runs. */
const NONE: ValueCondition = { ...ANY, age: -1 };
const HOUR = 3_600_000;
const sessionTimeout = 4_000;
const silent = { onConnection() {}, onExpiry() {}, doubtful() {} };

const claimOf = (key: string, wish: Partial<Claim> = {}): Claim => ({
  ...{ key, id: systemClock.id(), ...EXCLUSIVE, ttl: 60_000, queue: true, tokenCount: 1, within: 5_000, label: '' },
  ...wish,
});

async function leave(backend: Backend, key: string, text: string, ttl = HOUR): Promise<void> {
  const holder = claimOf(key, { accepts: NONE });
  expect(await backend.attempt(holder)).toMatchObject({ granted: true });
  expect(await backend.store!(holder, { text, ttl })).toBe(true);
}

/** The container of the words of a key. */
const bucketOf = (key: string): string => hash('sha256', key, 'hex').slice(0, 2);

describeOn('zookeeper', 'values beside the queues', () => {
  let server: Server;
  let session: ZooKeeperSession;
  let connection: ZooKeeperConnection;
  beforeAll(async () => {
    server = await startZookeeper({ tickTime: '200' });
    session = new ZooKeeperSession({ servers: [server], timeout: 10_000, clock: systemClock }, silent);
    connection = await session.connection(5_000);
  }, 60_000);
  afterAll(async () => {
    await session?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const open = (prefix: string, clock?: Clock): Backend =>
    zookeeper({ servers: `${HOST}:${server.port}`, sessionTimeout, prefix, clock });
  const stored = async (path: string): Promise<readonly string[]> =>
    (await connection.request(getChildren(path))).names;

  test('a lock that leaves nothing makes no node for words', async () => {
    const backend = open('plain');
    const claim = claimOf('key');
    await backend.attempt(claim);
    await backend.release(claim);
    expect(await stored('/plain')).toEqual(['key']);
    await backend.close();
  });

  test('words and attempts outlive the session of who left them, and are no locks', async () => {
    const writer = open('kept');
    await leave(writer, 'key', 'of one that has gone');
    await writer.attempt(claimOf('tried', { accepts: { ...NONE, mark: 'first', counts: HOUR } }));
    await writer.close();
    const reader = open('kept');
    expect(await reader.attempt(claimOf('key', { accepts: ANY }))).toMatchObject({
      value: { text: 'of one that has gone' },
    });
    expect(await reader.values!.look('tried')).toEqual({ attempts: 1, mark: 'first', begun: expect.any(BigInt) });
    const again = claimOf('tried', { accepts: { ...NONE, counts: HOUR } });
    expect(await reader.attempt(again)).toMatchObject({ granted: true, attempts: 2 });
    await reader.release(again);
    expect(await listOf(reader.inspect!(''))).toEqual([]);
    await reader.close();
  });

  test('a hold whose session is over leaves no words', async () => {
    await using proxy = await startProxy(server.port);
    const dead = zookeeper({ servers: `${HOST}:${proxy.port}`, sessionTimeout: 1_000, prefix: 'over' });
    const next = open('over');
    const holder = claimOf('key', { accepts: NONE });
    await dead.attempt(holder);
    proxy.refuse();
    proxy.cut();
    const waiter = claimOf('key');
    await until('the next one holds', async () => (await next.attempt(waiter)).granted);
    await proxy.pass();
    const late = { text: 'too late', ttl: HOUR };
    let released: boolean | undefined;
    await until('an answer comes', async () => {
      released = await dead.store!(holder, late).catch(() => undefined);
      return released !== undefined;
    });
    expect(released).toBe(false);
    expect((await next.values!.look('key')).value).toBeUndefined();
    expect(await next.release(waiter)).toEqual({ freed: true });
    await Promise.all([dead.close(), next.close()]);
  });

  test('a waiter gets a result that is not kept, in another process, too', () =>
    waiterGetsUnkept(() => open('waiters')));

  test('a release removes words of other keys that are over, and no others', async () => {
    const backend = open('swept', { ...systemClock, random: () => 0 }); // each release sweeps
    const numbers = Array.from({ length: 4_000 }, (_, n) => `${n}`);
    const [over, kept, last] = numbers.filter((key) => bucketOf(key) === bucketOf('0')) as [string, string, string];
    await leave(backend, over, 'short', 1);
    await leave(backend, kept, 'long');
    await leave(backend, last, 'makes room');
    const folder = `/swept/@values/${bucketOf('0')}`;
    await until('it is swept', async () => (await stored(folder)).length === 2);
    expect((await stored(folder)).toSorted()).toEqual([`${kept}@value`, `${last}@value`].toSorted());
    await backend.close();
  });

  test('an attempt that is counted removes counts of other keys that are over, too', async () => {
    const backend = open('counted', { ...systemClock, random: () => 0 }); // each attempt that is counted sweeps
    const numbers = Array.from({ length: 4_000 }, (_, n) => `${n}`);
    const [over, kept] = numbers.filter((key) => bucketOf(key) === bucketOf('0')) as [string, string];
    const folder = `/counted/@values/${bucketOf('0')}`;
    const fails = async (key: string, ttl: number): Promise<void> => {
      const holder = claimOf(key, { ttl, accepts: { ...NONE, counts: 1 } });
      expect(await backend.attempt(holder)).toMatchObject({ granted: true });
      await backend.release(holder);
    };
    await fails(over, 1);
    await until('it is swept', async () => {
      await fails(kept, HOUR);
      return !(await stored(folder)).includes(`${over}@attempts`);
    });
    expect(await stored(folder)).toEqual([`${kept}@attempts`]);
    await backend.close();
  });

  test('a wait for a value that never comes leaves nothing behind, in the process and on the server', async () => {
    const [waiting, holding] = [open('never'), open('never')];
    const watches = async () => Number(/Total watches:(\d+)/.exec(await exchange(server.port, 'wchs'))?.[1]);
    const before = await watches();
    const waits = async (key: string): Promise<WeakRef<Claim>> => {
      const [holder, waiter] = [claimOf(key), claimOf(key, { accepts: ANY })];
      expect(await holding.attempt(holder)).toMatchObject({ granted: true });
      expect(await waiting.attempt(waiter)).toMatchObject({ granted: false });
      const watch = await waiting.watch!(waiter, () => waiter);
      await watch[Symbol.asyncDispose]();
      await waiting.release(waiter);
      await holding.release(holder);
      return new WeakRef(waiter);
    };
    const gone: WeakRef<Claim>[] = [];
    while (gone.length < 30) gone.push(await waits(`${gone.length}`));
    await until('the server watches nothing for them', async () => (await watches()) === before, 5_000);
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(gone.filter((waiter) => waiter.deref()).length, 'of 30').toBeLessThan(5);
    await Promise.all([waiting.close(), holding.close()]);
  });

  test('words in a form of a later version are no answer, and an error says so', async () => {
    const backend = open('newer');
    await leave(backend, 'key', 'of this version');
    await connection.request(setData(`/newer/@values/${bucketOf('key')}/key@value`, Buffer.from('2 of a later one')));
    await expect(backend.values!.look('key')).rejects.toThrow(/a format that this version does not know/);
    await backend.close();
  });

  test('an attempt that is refused for good after it has joined leaves no node', async () => {
    const backend = open('refused');
    await leave(backend, 'key', 'of this version');
    await connection.request(setData(`/refused/@values/${bucketOf('key')}/key@value`, Buffer.from('2 of a later one')));
    await expect(backend.attempt(claimOf('key', { accepts: ANY }))).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    expect(await stored('/refused/key'), 'nodes that keep the key from everybody while the session lives').toEqual([]);
    await backend.close();
  });

  test('a hold that is notified during an attempt stays, though the attempt is refused for good', async () => {
    const backend = open('notified');
    const [holder, waiter] = [claimOf('key'), claimOf('key', { accepts: NONE })];
    await backend.attempt(holder);
    await backend.attempt(waiter);
    const { promise: mail, resolve: wake } = Promise.withResolvers<Grant>();
    await using _ = await backend.watch!(waiter, (grant) => grant && wake(grant));
    const values = backend.values as ZookeeperValues;
    values.ask = async (...asked) => {
      await asked[3]();
      await backend.release(holder);
      await mail;
      throw new LockError('LOCK_INVALID', 'a format that this version does not know');
    };
    await expect(backend.attempt(waiter)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    expect(await backend.renew([waiter]), 'the notified hold').toEqual([{ validFor: expect.any(Number) }]);
    expect(await backend.release(waiter), 'the notified hold').toEqual({ freed: true });
    await backend.close();
  });

  test('of a transaction the server names the step that it refused, and no step has an effect', async () => {
    const make = createPersistent('/made', new Uint8Array(), OPEN);
    expect(await connection.request(multi([make, remove('/nobody'), setData('/made', new Uint8Array())]))).toEqual({
      index: 1,
      code: Code.noNode,
    });
    expect(await stored('/')).not.toContain('made');
    expect(
      await connection.request(multi([make, setData('/made', new Uint8Array()), remove('/made')])),
    ).toBeUndefined();
    expect(await connection.request(multi([make, make]))).toEqual({ index: 1, code: Code.nodeExists });
  });
});
