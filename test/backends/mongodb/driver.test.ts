import { type Document, MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MongoOptions, mongodb } from '../../../src/backends/mongodb/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import type { MongoStub } from '../../kit/mongodb-stub.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { lines, startLineStub } from './line-stub.ts';

const claim = (wish: Partial<Claim> = {}): Claim => ({
  ...{
    key: 'a',
    id: systemClock.id(),
    ...EXCLUSIVE,
    ttl: 30_000,
    queue: true,
    tokenCount: 1,
    within: 5_000,
    label: '',
  },
  ...wish,
});

/** The real driver, on a stub: what is sent, and how answers are taken. */
describe('MongoDB, as far as a stub can show', () => {
  let stub: MongoStub;
  let client: MongoClient;
  let backend: Backend;

  beforeEach(async () => {
    stub = await startLineStub();
    client = await MongoClient.connect(stub.url);
    backend = mongodb(client.db('app'));
  });
  afterEach(async () => {
    await backend.close();
    await client.close(true);
    await stub[Symbol.asyncDispose]();
  });

  const sent = (name: string): Document[] => stub.commands.filter((command) => name in command);
  /** Answers the next findAndModify with this instead. */
  const once = (reply: Document): void => {
    const { handler } = stub;
    stub.handler = (command, name) => {
      if (name !== 'findAndModify') return handler(command, name);
      stub.handler = handler;
      return reply;
    };
  };

  test('an attempt is one command, filtered by _id alone, acknowledged by a majority on disk', async () => {
    expect(await backend.attempt(claim())).toMatchObject({ granted: true, validFor: 30_000 });
    const [command, ...more] = sent('findAndModify');
    expect(more).toEqual([]);
    expect(command).toMatchObject({
      findAndModify: 'holdfast',
      query: { _id: '=a' },
      new: true,
      upsert: true,
      maxTimeMS: 5_000,
      writeConcern: { w: 'majority', j: true },
    });
    expect(Object.keys(command!.query)).toEqual(['_id']);
  });

  test('its limit is in whole milliseconds, as the server takes no others, whatever the lease', async () => {
    await backend.attempt(claim({ ttl: 1_501, within: 750.5 }));
    expect(sent('findAndModify').map(({ maxTimeMS }) => maxTimeMS)).toEqual([751]);
  });

  test('an unknown option is refused', () => {
    const options = { perfix: 'locks' } as MongoOptions;
    expect(() => mongodb(client.db('app'), options)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  });

  test('closing waits for no index, which a member that is down may hold up', async () => {
    const { handler } = stub;
    stub.handler = (command, name) => (name === 'createIndexes' ? new Promise(() => {}) : handler(command, name));
    await backend.attempt(claim());
    await until('the index is asked for', () => sent('createIndexes').length > 0);
    await settleWithin('the end', backend.close(), 1_000);
  });

  test('idle documents are left to an index, which is made once and may be refused', async () => {
    for (let turn = 0; turn < 3; turn++) await backend.attempt(claim({ key: `k${turn}` }));
    await until('it is asked for', () => sent('createIndexes').length > 0);
    expect(sent('createIndexes').map(({ indexes }) => indexes)).toMatchObject([
      [{ key: { idle: 1 }, expireAfterSeconds: 86_400 }],
    ]);
  });

  test('the index is asked for again after a connection that broke before its answer', async () => {
    const { handler } = stub;
    stub.handler = (command, name) => {
      if (name !== 'createIndexes') return handler(command, name);
      stub.handler = handler;
      stub.cut();
      return undefined;
    };
    const again = async (): Promise<boolean> => {
      await backend.attempt(claim()).catch(() => {}); // the cut may also meet an attempt
      return sent('createIndexes').length > 1;
    };
    await until('it is asked for again', again, 5_000);
    for (let turn = 0; turn < 3; turn++) await backend.attempt(claim());
    expect(sent('createIndexes')).toHaveLength(2);
  });

  test('a first-comer that lost the race for the document asks once more', async () => {
    once({ ok: 0, code: 11_000, errmsg: 'E11000 duplicate key error' });
    expect(await backend.attempt(claim())).toMatchObject({ granted: true });
    expect(sent('findAndModify')).toHaveLength(2);
  });

  test('of first-comers that lose the race for each new document, as on 4.4, exactly one holds each key', async () => {
    const { handler } = stub;
    const seen = new Set<string>();
    // The first command makes the document, and the server tells each other first attempt that it lost.
    stub.handler = (command, name) => {
      const key = String(command.query?._id);
      const attempt = `${key} ${JSON.stringify(command.update)}`;
      const loses = seen.has(key) && !seen.has(attempt);
      seen.add(key).add(attempt);
      if (name !== 'findAndModify' || !loses) return handler(command, name);
      return { ok: 0, code: 11_000, errmsg: 'E11000 duplicate key error' };
    };
    for (let key = 0; key < 50; key++) {
      const four = [1, 2, 3, 4].map(() => backend.attempt(claim({ key: `race ${key}`, within: 5_000 })));
      const granted = (await Promise.all(four)).filter((answer) => answer.granted);
      expect(granted, `the holders of key ${key}`).toHaveLength(1);
    }
  });

  test.each([
    [13, 'not authorized on app to execute command', /find, insert and update/],
    [18, 'Authentication failed.', /password/],
    [9, 'Either an update or remove=true must be specified', /4\.4/],
  ])('error %i is a definite refusal that says what to do', async (code, errmsg, advice) => {
    once({ ok: 0, code, errmsg });
    const refusal = await backend.attempt(claim()).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'LockError',
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(advice),
    });
  });

  test.each([
    ['no longer primary', { ok: 0, code: 10_107, errmsg: 'not primary' }],
    ['too slow', { ok: 0, code: 50, errmsg: 'operation exceeded time limit' }],
    ['not acknowledged by a majority', { value: null, writeConcernError: { code: 64, errmsg: 'waiting timed out' } }],
  ])('a server that is %s leaves the outcome unknown', async (_, reply) => {
    once(reply);
    const error = await backend.attempt(claim()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toMatchObject({ name: 'LockError' });
  });

  test('a connection that breaks before the answer leaves the outcome unknown; repeated, the token is the same', async () => {
    const { handler } = stub;
    let given: Document | undefined;
    stub.handler = async (command, name) => {
      const reply = await handler(command, name);
      if (name !== 'findAndModify') return reply;
      given = reply!.value;
      stub.handler = handler;
      stub.cut();
      return undefined;
    };
    const mine = claim();
    await expect(backend.attempt(mine)).rejects.not.toMatchObject({ name: 'LockError' });
    expect(await backend.attempt(mine)).toMatchObject({ granted: true, token: BigInt(given!.queue[0].token) });
    expect(await backend.release(mine)).toEqual({ freed: true });
  });

  test('one renewal that fails leaves the others alone', async () => {
    const holds = [claim({ key: 'x' }), claim({ key: 'y' })];
    for (const hold of holds) await backend.attempt(hold);
    once({ ok: 0, code: 10_107, errmsg: 'not primary' });
    const answers = await backend.renew([...holds, claim({ key: 'z' })]);
    expect(answers).toEqual(['unknown', { validFor: 30_000 }, 'gone']);
  });

  test('a document of a later version is refused, not guessed', async () => {
    once({ value: { _id: '=a', v: 2, queue: [], now: new Date() } });
    await expect(backend.attempt(claim())).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', key: 'a' });
  });

  test('a change wakes whom it admits, and nobody else', async () => {
    const handler = lines();
    let tell: ((change: Document) => void) | undefined;
    const cursor = { id: 7n, ns: 'app.holdfast' };
    stub.handler = async (command, name) => {
      const postBatchResumeToken = { _data: String(stub.commands.length) };
      if (name === 'aggregate') return { cursor: { ...cursor, firstBatch: [], postBatchResumeToken } };
      if (name !== 'getMore') return handler(command, name);
      const change = await new Promise<Document>((resolve) => {
        tell = resolve;
      });
      return { cursor: { ...cursor, nextBatch: [{ _id: postBatchResumeToken, ...change }], postBatchResumeToken } };
    };
    const [holder, next, last] = [claim(), claim(), claim()];
    for (const each of [holder, next, last]) await backend.attempt(each);
    const woken: string[] = [];
    await using _next = await backend.watch!(next, () => woken.push('next'));
    await using _last = await backend.watch!(last, () => woken.push('last'));
    await backend.release(holder);
    const { value } = (await handler(
      { findAndModify: 'holdfast', query: { _id: '=a' }, update: [] },
      'findAndModify',
    ))!;
    await until('the stream is asked', () => tell !== undefined);
    tell!({ operationType: 'replace', documentKey: { _id: '=a' }, fullDocument: value });
    await until('somebody is woken', () => woken.length > 0);
    expect(woken).toEqual(['next']);
    tell!({ operationType: 'drop' });
  });

  test('every change has a limit on the server, a renewal and a release too', async () => {
    const mine = claim({ within: 700 });
    await backend.attempt(mine);
    await backend.renew([mine]);
    await backend.release(mine);
    expect(sent('findAndModify').map(({ maxTimeMS }) => maxTimeMS)).toEqual([700, 700, 5_000]);
  });

  test('the first attempt of a process makes no claim where it comes too late', async () => {
    let passed = 0;
    const now = () => new Date(Date.now() + passed);
    const apply = lines(now);
    stub.hello = Object.defineProperty({}, 'localTime', { get: now, enumerable: true });
    stub.handler = (command, name) => {
      if (name === 'findAndModify') passed = 400; // on the way
      return apply(command, name);
    };
    expect(await backend.attempt(claim({ within: 300 }))).toEqual({ granted: false, late: true });
    const holder = await backend.attempt(claim({ queue: false }));
    expect(holder, 'of another claim, which meets nobody').toMatchObject({ granted: true });
  });

  test('a renewal that came late is sent once more, by the time that its answer told', async () => {
    const mine = claim({ within: 700 });
    await backend.attempt(mine);
    const { value } = (await stub.handler(
      { findAndModify: 'holdfast', query: { _id: '=a' }, update: [] },
      'findAndModify',
    ))!;
    const later = new Date(Date.now() + 20_000); // by the clock of another router
    once({ value: { ...value, now: later } });
    expect(await backend.renew([mine])).toEqual([{ validFor: 30_000 }]);
    expect(sent('findAndModify')).toHaveLength(3);
  });

  test.each([
    ['FerretDB', { buildInfo: { version: '7.0.77', ferretdbVersion: 'v1.24.0' } }],
    ['FerretDB', { buildInfo: { version: '7.0.77', ferretdb: { version: 'v2.5.0' } } }],
    ['DocumentDB', { hello: { internal: { documentdb_versions: ['0.106-0'] } } }],
  ] as [string, Record<string, Document>][])('%s is refused before anything is written', async (name, says) => {
    const { handler } = stub;
    stub.handler = (command, asked) => says[asked] ?? handler(command, asked);
    stub.hello = says.hello ?? {};
    await expect(backend.attempt(claim())).rejects.toMatchObject({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringContaining(name),
    });
    expect(sent('findAndModify')).toEqual([]);
  });

  test('behind a router, which holds changes up, waiters ask instead of opening a change stream', async () => {
    stub.hello = { msg: 'isdbgrid' };
    const [holder, waiter] = [claim(), claim()];
    for (const each of [holder, waiter]) await backend.attempt(each);
    let woken = 0;
    await using _ = await backend.watch!(waiter, () => woken++);
    await until('it is told three times to ask', () => woken >= 3);
    expect(sent('aggregate')).toEqual([]);
  });

  test('the change stream of a waiter serves the next one, which comes a moment later', async () => {
    const { handler } = stub;
    const cursor = { id: 7n, ns: 'app.holdfast' };
    let opened = 0;
    stub.handler = (command, name) => {
      if (name === 'getMore') return new Promise(() => {});
      if (name !== 'aggregate') return handler(command, name);
      opened++;
      return { cursor: { ...cursor, firstBatch: [], postBatchResumeToken: { _data: String(opened) } } };
    };
    const [holder, waiter] = [claim(), claim()];
    for (const each of [holder, waiter]) await backend.attempt(each);
    for (let turn = 0; turn < 5; turn++) {
      await using _ = await backend.watch!(waiter, () => {});
    }
    expect(opened).toBe(1);
    expect(sent('killCursors')).toEqual([]);
    await until('the stream that nobody uses is closed', () => sent('killCursors').length > 0);
  });

  test.each([13, 115, 40_573])('where a change stream is refused for good (%i), it is asked for once', async (code) => {
    const { handler } = stub;
    stub.handler = (command, name) =>
      name === 'aggregate' ? { ok: 0, code, errmsg: 'not supported' } : handler(command, name);
    const [holder, waiter] = [claim(), claim()];
    for (const each of [holder, waiter]) await backend.attempt(each);
    let woken = 0;
    await using _ = await backend.watch!(waiter, () => woken++);
    await until('it is told three times to ask', () => woken >= 3);
    expect(sent('aggregate')).toHaveLength(1);
  });

  test('check tells of a sharded cluster that time is the routers’, and that one that is ahead ends living leases', async () => {
    stub.hello = { msg: 'isdbgrid' };
    stub.handler = (_, name) => (name === 'buildInfo' ? { version: '7.0.0' } : {});
    const findings = await backend.check!();
    expect(findings).toMatchObject([{ code: 'sharded', message: expect.stringMatching(/ends leases early/) }]);
  });

  test('check tells a lone server and an old one', async () => {
    stub.handler = (_, name) => (name === 'buildInfo' ? { version: '4.0.28' } : {});
    expect((await backend.check!()).map(({ code }) => code)).toEqual(['version', 'standalone']);
  });
});
