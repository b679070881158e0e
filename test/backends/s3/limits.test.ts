import { afterAll, beforeAll, expect, test } from 'vitest';
import { s3 } from '../../../src/backends/s3/index.ts';
import { createLocks } from '../../../src/index.ts';
import { type Front, type Refuse, startInTurn } from '../../kit/in-turn.ts';
import { s3Client, startS3 } from '../../kit/s3.ts';
import { describeOn } from '../../kit/suite.ts';

/** One write of an object in each second, as R2 publishes its limit; AWS says the same with 503. */
const onePerSecond = (status: number, code: string): Refuse => {
  const last = new Map<string, number>();
  return ({ method, url = '' }) => {
    if (method !== 'PUT') return undefined;
    const [path = ''] = url.split('?');
    const now = performance.now();
    if (now - (last.get(path) ?? Number.NEGATIVE_INFINITY) < 1_000) return { status, code };
    last.set(path, now);
    return undefined;
  };
};

describeOn('s3', 'a store that limits writes', () => {
  for (const [status, code] of [
    [429, 'TooManyRequests'],
    [503, 'SlowDown'],
  ] as const) {
    test(`to one a second of each object, by ${status}, is proved, and locks there take turns`, {
      timeout: 60_000,
    }, async () => {
      await using front = await startInTurn(await startS3(), onePerSecond(status, code));
      const clients = [s3Client(front.port), s3Client(front.port)];
      expect(await s3(clients[0]!, 'locks').check!()).toEqual([]);
      const [a, b] = clients.map((client) => createLocks(s3(client, 'locks'), { ttl: '20s' }));
      let inside = 0;
      const turn = async (locks: typeof a): Promise<void> =>
        locks!.mutex('k').run(async () => {
          expect(++inside).toBe(1);
          await new Promise((resolve) => setTimeout(resolve, 20));
          inside--;
        });
      await Promise.all([turn(a), turn(b)]);
      await Promise.all([a!.close(), b!.close()]);
      for (const client of clients) client.destroy();
    });
  }
});

describeOn('s3', 'a bucket whose policy asks for If-Match on DELETE', () => {
  let front: Front;
  let conditional = 0;
  beforeAll(async () => {
    front = await startInTurn(await startS3(), ({ method, headers }) => {
      if (method !== 'DELETE') return undefined;
      if (headers['if-match'] === undefined) return { status: 403, code: 'AccessDenied' };
      conditional++;
      return undefined;
    });
  }, 90_000);
  afterAll(() => front?.[Symbol.asyncDispose]());

  test('lets hints be forgotten, and what the proof was tried on', async () => {
    const client = s3Client(front.port);
    const backend = s3(client, 'locks');
    expect(await backend.check!()).toEqual([]);
    await backend.hints!.write('hint', 'text', 60_000);
    await backend.hints!.write('hint', undefined, 60_000);
    expect(await backend.hints!.read('hint')).toBeUndefined();
    const { Contents = [] } = await client.listObjectsV2({ Bucket: 'locks' });
    expect(Contents.map(({ Key }) => Key)).toEqual(['holdfast/proof']);
    expect(conditional).toBe(9);
    client.destroy();
  });
});
