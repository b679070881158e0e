import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import { idempotency } from '../../src/idempotency/index.ts';
import { requestsOf } from '../../src/idempotency/requests.ts';
import { createLocks } from '../../src/index.ts';
import { FRAMEWORKS, type Said, type Work } from './frameworks.ts';

/** A client of one server. */
function clientOf(url: string) {
  return async (
    key: string | undefined,
    order: object,
    more: Readonly<Record<string, string>> = {},
    path = '/payments',
  ) => {
    const headers = {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
      ...more,
    };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(order) });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      replayed: response.headers.get('idempotent-replayed'),
      text,
    };
  };
}

const NOISE = randomBytes(70_000).toString('base64');
const PARTS = Array.from({ length: 20 }, () => randomBytes(40_000));

describe('options of idempotency', () => {
  const locks = createLocks(memory());
  const scope = (): string => 'all';
  afterAll(() => locks.close());

  test.each<[object, RegExp]>([
    [{}, /scope is undefined.*must be a function/],
    [{ scope: 'all' }, /scope is .*must be a function/],
    [{ scope, keepStatus: 500 }, /keepStatus is 500/],
    [{ scope, methods: 'POST' }, /methods is .*must be a list/],
    [{ scope, required: 1 }, /required is 1/],
    [{ scope, whenDown: 'skip' }, /whenDown is .*must be "refuse" or "run"/],
    [{ scope, keep: 'soon' }, /keep/],
    [{ scope, refresh: '1h' }, /"refresh" is not one of/],
  ])('%o is refused', (options, why) => {
    expect(() => idempotency(locks, options as never)).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(why) }),
    );
  });

  test('an engine that keeps nothing is refused when the routes are made', async () => {
    await using few = createLocks(quorum([memory(), memory(), memory()]));
    expect(() => idempotency(few, { scope })).toThrow(expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }));
    expect(() => idempotency({} as never, { scope })).toThrow(/needs Locks/);
  });

  test('what is left out, or undefined, has its default: an answer is kept for a day', async () => {
    const store = memory();
    await using own = createLocks(store);
    const answers: number[] = [];
    for (let i = 0; i < 2; i++) {
      const requests = requestsOf(own, { scope, keep: undefined });
      const asked = { method: 'POST', url: '/a', key: 'k', body: () => undefined };
      const outcome = await requests({}, asked, async () => ({ status: 200, headers: {}, body: Buffer.from('a') }));
      answers.push(typeof outcome === 'object' ? outcome.status : 0);
    }
    expect(answers).toEqual([0, 200]);
    for await (const { key } of own.inspect()) expect.fail(`${key} is held`);
  });
});

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  describe(name, () => {
    const locks = createLocks(memory());
    const runs: string[] = [];
    const tokens: (bigint | undefined)[] = [];
    const gates = new Map<string, { begun: () => void; end: Promise<void> }>();
    const ACTS: Readonly<Record<string, (id: string) => Said>> = {
      pay: (id) => ({ status: 201, body: JSON.stringify({ id, run: runs.length }) }),
      declined: () => ({ status: 402, body: '{"state":"declined"}' }),
      busy: () => ({ status: 429, body: '{}' }),
      fails: () => ({ status: 500, body: '', fails: true }),
      noise: () => ({ status: 201, body: JSON.stringify({ NOISE }) }),
      stream: () => ({ status: 200, body: [Buffer.from('{"a":'), Buffer.from('"'), Buffer.from('b"}')] }),
      long: () => ({ status: 200, body: PARTS }),
    };
    const work: Work = async ({ act, id }, token) => {
      runs.push(id);
      tokens.push(token);
      const gate = gates.get(id);
      gate?.begun();
      await gate?.end;
      return ACTS[act]!(id);
    };
    const runsOf = (id: string): number => runs.filter((run) => run === id).length;
    let post: ReturnType<typeof clientOf>;
    const ends: (() => unknown)[] = [];
    const open = async (options?: Parameters<typeof start>[2], own = locks) => {
      const [url, end] = await start(own, work, options);
      ends.push(end);
      return clientOf(url);
    };
    beforeAll(async () => {
      post = await open();
    });
    afterAll(async () => {
      for (const end of ends) await end();
      await locks.close();
    });

    test('the second request gets status, headers and body of the first one, and nothing is done again', async () => {
      const [key, id] = [randomUUID(), randomUUID()];
      const first = await post(key, { act: 'pay', id }, { 'x-request-id': '1' });
      const again = await post(key, { id, act: 'pay' }, { 'x-request-id': '2' });
      expect([first.status, first.replayed, again.status, again.replayed]).toEqual([201, null, 201, 'true']);
      expect(again.text).toBe(first.text);
      for (const header of ['content-type', 'location', 'x-parts'])
        expect(again.headers.get(header), header).toBe(first.headers.get(header));
      expect(again.headers.get('x-parts')).toBe('a, b');
      expect(
        [first, again].map(({ headers }) => headers.get('set-cookie')),
        'a cookie is not repeated',
      ).toEqual(['session=secret', null]);
      expect(again.headers.get('x-request-id'), 'of what runs before it').toBe('2');
      expect(runsOf(id)).toBe(1);
      expect(tokens.at(-1), 'its fencing token').toBeGreaterThan(0n);
    });

    test('of many at once one runs, and all have its answer', async () => {
      const [key, id] = [randomUUID(), randomUUID()];
      const all = await Promise.all(Array.from({ length: 20 }, () => post(key, { act: 'pay', id })));
      expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(all.filter(({ replayed }) => replayed === 'true')).toHaveLength(19);
      expect(runsOf(id)).toBe(1);
    });

    test('while the first one runs, the second is told to come again', async () => {
      const impatient = await open({ wait: 0 });
      const [key, id] = [randomUUID(), randomUUID()];
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      gates.set(id, { begun: begun.resolve, end: end.promise });
      const first = impatient(key, { act: 'pay', id });
      await begun.promise;
      const early = await impatient(key, { act: 'pay', id });
      expect([early.status, early.headers.get('retry-after'), early.headers.get('content-type')]).toEqual([
        409,
        '1',
        expect.stringContaining('application/problem+json'),
      ]);
      expect(JSON.parse(early.text)).toMatchObject({ status: 409, title: expect.stringContaining('outstanding') });
      expect((await impatient(key, { act: 'pay', id: 'another' })).status, 'another body meanwhile').toBe(422);
      end.resolve();
      expect((await first).status).toBe(201);
      expect((await impatient(key, { act: 'pay', id })).replayed).toBe('true');
      expect(runsOf(id)).toBe(1);
    });

    test('another body or query under the key is refused; another account, path or key is another request', async () => {
      const [key, id] = [randomUUID(), randomUUID()];
      const order = { act: 'pay', id };
      await post(key, order);
      expect((await post(key, { ...order, amount: 2 })).status).toBe(422);
      expect((await post(key, order, {}, '/payments?draft=1')).status).toBe(422);
      const others = [
        post(key, order, { account: 'somebody else' }),
        post(key, order, {}, '/payments/2'),
        post(`"${key}" `, order, { account: 'a third' }),
        post(randomUUID(), order),
      ];
      expect((await Promise.all(others)).map(({ status, replayed }) => [status, replayed])).toEqual(
        Array(4).fill([201, null]),
      );
      expect((await post(key, order, { account: 'a third' })).replayed, 'with and without quotes it is one key').toBe(
        'true',
      );
      expect(runsOf(id)).toBe(5);
    });

    test.each([
      ['missing', undefined],
      ['two', 'one, two'],
      ['empty', '""'],
      ['too long', 'x'.repeat(256)],
      ['with a space', 'a b'],
    ])('a key that is %s is refused, and nothing runs', async (_why, key) => {
      const id = randomUUID();
      const refused = await post(key, { act: 'pay', id });
      expect([refused.status, refused.headers.get('content-type')]).toEqual([
        400,
        expect.stringContaining('application/problem+json'),
      ]);
      expect(JSON.parse(refused.text)).toMatchObject({
        status: 400,
        title: expect.stringContaining('Idempotency-Key'),
      });
      expect(runsOf(id)).toBe(0);
    });

    test('a key of 255 characters is taken', async () => {
      const id = randomUUID();
      const key = id.padEnd(255, 'k');
      await post(key, { act: 'pay', id });
      expect((await post(key, { act: 'pay', id })).replayed).toBe('true');
    });

    test('where the header is not required, a request without it runs each time', async () => {
      const open2 = await open({ required: false });
      const id = randomUUID();
      const all = [await open2(undefined, { act: 'pay', id }), await open2(undefined, { act: 'pay', id })];
      expect(all.map(({ status, replayed }) => [status, replayed])).toEqual(Array(2).fill([201, null]));
      expect(runsOf(id)).toBe(2);
      expect(tokens.at(-1)).toBeUndefined();
    });

    test('methods that are not named pass', async () => {
      const other = await open({ methods: ['put'] });
      const id = randomUUID();
      expect((await other(undefined, { act: 'pay', id })).status).toBe(201);
      expect(runsOf(id)).toBe(1);
    });

    test.each([
      ['declined', 402, 1],
      ['busy', 429, 2],
      ['fails', 500, 2],
    ])('an answer %s is kept if it is final, else the next request runs', async (act, status, times) => {
      const [key, id] = [randomUUID(), randomUUID()];
      const all = [await post(key, { act, id }), await post(key, { act, id })];
      expect(all.map((answer) => answer.status)).toEqual([status, status]);
      expect(all[1]!.text).toBe(all[0]!.text);
      expect(runsOf(id)).toBe(times);
    });

    test('what is kept is for the option to say', async () => {
      const keepsAll = await open({ keepStatus: () => true });
      const [key, id] = [randomUUID(), randomUUID()];
      const all = [await keepsAll(key, { act: 'fails', id }), await keepsAll(key, { act: 'fails', id })];
      expect(all.map(({ status, replayed }) => [status, replayed])).toEqual([
        [500, null],
        [500, 'true'],
      ]);
      expect(runsOf(id)).toBe(1);
    });

    test('after so many attempts it rests', async () => {
      const few = await open({ attempts: 2 });
      const [key, id] = [randomUUID(), randomUUID()];
      for (let i = 0; i < 2; i++) expect((await few(key, { act: 'fails', id })).status).toBe(500);
      const third = await few(key, { act: 'fails', id });
      expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1']);
      expect(runsOf(id)).toBe(2);
    });

    test('an answer in parts is kept whole', async () => {
      const [key, id] = [randomUUID(), randomUUID()];
      const all = [await post(key, { act: 'stream', id }), await post(key, { act: 'stream', id })];
      expect(all.map(({ text, replayed }) => [text, replayed])).toEqual([
        ['{"a":"b"}', null],
        ['{"a":"b"}', 'true'],
      ]);
    });

    test.each([
      'noise',
      'long',
    ])('an answer that is too large (%s) reaches its caller whole, and the next is told so and runs nothing', async (act) => {
      const [key, id] = [randomUUID(), randomUUID()];
      const first = await post(key, { act, id });
      expect(first.status).toBeLessThan(300);
      if (act === 'noise') expect(JSON.parse(first.text)).toEqual({ NOISE });
      else expect(first.text).toBe(Buffer.concat(PARTS).toString());
      const again = await post(key, { act, id });
      expect([again.status, again.headers.get('content-type')]).toEqual([
        500,
        expect.stringContaining('application/problem+json'),
      ]);
      expect(runsOf(id)).toBe(1);
    });

    test('a client that goes away stops nothing: its next request gets the answer', async () => {
      const [key, id] = [randomUUID(), randomUUID()];
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      gates.set(id, { begun: begun.resolve, end: end.promise });
      const away = new AbortController();
      const [url, stop] = await start(locks, work);
      ends.push(stop);
      const gone = fetch(`${url}/payments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ act: 'pay', id }),
        signal: away.signal,
      });
      await begun.promise;
      away.abort();
      await gone.catch(() => {});
      const again = clientOf(url)(key, { act: 'pay', id });
      end.resolve();
      expect([(await again).status, (await again).replayed]).toEqual([201, 'true']);
      expect(runsOf(id)).toBe(1);
    });

    test('a body that nothing has read is refused, since it could not be compared', async () => {
      if (name === 'Hono' || name === 'Fastify') return; // they have read it, or refused it themselves
      const refused = await post(
        randomUUID(),
        { act: 'pay', id: 'unread' },
        { 'content-type': 'application/octet-stream' },
      );
      expect([refused.status, runsOf('unread')]).toEqual([415, 0]);
    });

    test('while the engine is closed nothing runs', async () => {
      const own = createLocks(memory());
      const shut = await open({}, own);
      await own.close();
      const id = randomUUID();
      const refused = await shut(randomUUID(), { act: 'pay', id });
      expect([refused.status, refused.headers.get('retry-after'), runsOf(id)]).toEqual([503, '1', 0]);
    });
  });
}
