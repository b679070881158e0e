import { afterAll, beforeAll, expect, test } from 'vitest';
import { Etcd } from '../../../src/backends/etcd/backend.ts';
import { etcd } from '../../../src/backends/etcd/index.ts';
import { open as openConnection } from '../../../src/backends/etcd/options.ts';
import type { Backend, Grant, ValueCondition } from '../../../src/core/contract/backend.ts';
import { LockError } from '../../../src/core/contract/errors.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { startEtcd, startEtcdMembers } from '../../kit/etcd.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { waiterGetsUnkept } from '../../memo/unkept.ts';
import { claimOf, endpoint, etcdctl, keys, leases } from './etcdctl.ts';

const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
/** It is not answered, so it runs. */
const NONE: ValueCondition = { ...ANY, age: -1 };
const HOUR = 3_600_000;

async function leave(backend: Backend, key: string, text: string, counts = 0): Promise<void> {
  const holder = claimOf(key, { accepts: { ...NONE, counts } });
  expect(await backend.attempt(holder)).toMatchObject({ granted: true });
  expect(await backend.store!(holder, { text, ttl: HOUR })).toBe(true);
}

describeOn('etcd', 'values beside the queues', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const open = (prefix: string): Backend => etcd({ endpoints: endpoint(server), prefix });

  test('a lock that leaves nothing writes nothing beside its line', async () => {
    const backend = open('plain');
    const [holder, next] = [claimOf('key'), claimOf('key')];
    await backend.attempt(holder);
    await backend.release(holder);
    await backend.attempt(next);
    const stored = (await keys([server])).filter((name) => name.startsWith('plain/'));
    expect(stored, 'its own key').toEqual([expect.stringMatching(/^plain\/key\/[0-9a-f]{32}$/)]);
    await backend.release(next);
    await backend.close();
  });

  test('words that others took the place of, and forgotten ones, leave no lease behind', async () => {
    const backend = open('leases');
    const plain = claimOf('key');
    await backend.attempt(plain);
    await backend.release(plain); // its lease waits for the holds of later
    const before = (await leases([server])).length;
    for (let n = 0; n < 4; n++) await leave(backend, 'key', `text ${n}`, HOUR);
    const left = async (count: number): Promise<void> =>
      until(`${count} leases are there`, async () => (await leases([server])).length === count);
    await left(before + 1);
    expect((await backend.values!.look('key')).value?.text).toBe('text 3');
    await backend.values!.forget('key');
    await left(before);
    await backend.close();
  });

  test('a listing of all locks reads no words', async () => {
    const backend = open('listed');
    const large = 'x'.repeat(60_000);
    for (let n = 0; n < 20; n++) await leave(backend, `result ${n}`, large);
    for (const key of ['!', 'A', 'z~']) await backend.attempt(claimOf(key));
    await using proxy = await startProxy(server.port);
    const reader = etcd({ endpoints: endpoint(proxy), prefix: 'listed' });
    const listed = await listOf(reader.inspect!(''));
    expect(listed.map(({ key }) => key)).toEqual(['!', 'A', 'z~']);
    expect(proxy.passed.down, 'bytes').toBeLessThan(large.length);
    await Promise.all([backend.close(), reader.close()]);
  });

  test('a waiter gets a result that is not kept, in another process, too', () =>
    waiterGetsUnkept(() => open('waiters')));

  test('a waiter whose watch broke, and could not be set again for a while, is notified of the value that is stored then', async () => {
    await using proxy = await startProxy(server.port);
    const [holding, cut] = [open('cut'), etcd({ endpoints: endpoint(proxy), prefix: 'cut', timeout: 500 })];
    const holder = claimOf('key', { accepts: NONE });
    const waiters = [claimOf('key', { accepts: ANY }), claimOf('key', { accepts: ANY })] as const;
    await holding.attempt(holder);
    await holding.attempt(waiters[0]);
    await cut.attempt(waiters[1]);
    let woken = 0;
    await using _ = await cut.watch!(waiters[1], () => woken++);
    proxy.refuse();
    proxy.cut();
    await until('the loss is told', () => woken > 0);
    await proxy.pass();
    await until('it asks again', async () => {
      await cut.attempt(waiters[1]).catch(() => undefined);
      return woken > 1;
    });
    const before = woken;
    await holding.store!(holder, { text: 'for all', ttl: HOUR });
    await until('it is notified of the value', () => woken > before);
    expect(await cut.attempt(waiters[1])).toMatchObject({ value: { text: 'for all' } });
    await Promise.all([holding.close(), cut.close()]);
  });

  test('words in a form of a later version are no answer, and an error says so', async () => {
    const backend = open('newer');
    await etcdctl([server], 'put', 'newer/@values/key/value', '2 of a later version');
    const refused = { code: 'LOCK_INVALID', message: expect.stringMatching(/a format that this version.*forget\(\)/) };
    await expect(backend.attempt(claimOf('key', { accepts: ANY }))).rejects.toMatchObject(refused);
    await expect(backend.values!.look('key')).rejects.toMatchObject(refused);
    await backend.close();
  });

  test('a hold that is notified during an attempt stays, though the attempt is refused for good', async () => {
    const backend = new Etcd(openConnection({ endpoints: endpoint(server), prefix: 'notified' }));
    const [holder, waiter] = [claimOf('key'), claimOf('key', { accepts: NONE })];
    await backend.attempt(holder);
    await backend.attempt(waiter);
    const { promise: mail, resolve: wake } = Promise.withResolvers<Grant>();
    await using _ = await backend.watch(waiter, (grant) => grant && wake(grant));
    backend.values.ask = async (...asked) => {
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
});

describeOn('etcd', 'words and a new leader', () => {
  test('after an election words count as old as they may be, since all leases began anew', async () => {
    await using cluster = await startEtcdMembers(3);
    const { servers } = cluster;
    const backend = etcd({ endpoints: servers.map(endpoint) });
    await leave(backend, 'key', 'from before');
    const young = (await backend.values!.look('key')).value!.age;
    expect(young).toBeLessThan(HOUR / 2);
    const leads = async (leader: string): Promise<string[][]> =>
      (await etcdctl(servers, 'endpoint', 'status'))
        .split('\n')
        .map((line) => line.split(', '))
        .filter((fields) => fields[4] === leader);
    const [[address]] = (await leads('true')) as [[string]];
    const [[, id]] = (await leads('false')) as [[string, string]];
    await etcdctl([{ port: Number(address.split(':')[1]) }], 'move-leader', id);
    await until('another one leads', async () => (await leads('true')).some((fields) => fields[1] === id));
    const { text, age } = (await backend.values!.look('key')).value!;
    expect({ text, age }).toEqual({ text: 'from before', age: HOUR });
    const picky = claimOf('key', { accepts: { ...ANY, age: HOUR - 1 } });
    expect(await backend.attempt(picky), 'too old for it').toMatchObject({ granted: true });
    expect(await backend.release(picky)).toEqual({ freed: true });
    expect(await backend.attempt(claimOf('key', { accepts: ANY }))).toMatchObject({ value: { text: 'from before' } });
    await backend.close();
  });
});
