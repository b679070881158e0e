import { readFileSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { s3 } from '../../../src/backends/s3/index.ts';
import { createLocks } from '../../../src/index.ts';
import { manualClock } from '../../../src/testing/index.ts';
import { s3Client, startS3 } from '../../kit/s3.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';

const page = readFileSync(new URL('../../../docs/backends/s3.md', import.meta.url), 'utf8');

/** The client, and what was asked of it. */
function counted(port: number) {
  const client = s3Client(port);
  const count = { puts: 0, gets: 0, underWay: 0 };
  const log: string[] = [];
  const counting = <I extends unknown[], O>(kind: 'puts' | 'gets', call: (...input: I) => Promise<O>) => {
    return (...input: I): Promise<O> => {
      count[kind]++;
      log.push(`${kind} ${(input[0] as { Key: string }).Key}`);
      count.underWay++;
      return call(...input).finally(() => count.underWay--);
    };
  };
  const s3Like = {
    getObject: counting('gets', client.getObject.bind(client) as (...input: unknown[]) => Promise<never>),
    putObject: counting('puts', client.putObject.bind(client) as (...input: unknown[]) => Promise<never>),
    deleteObject: client.deleteObject.bind(client),
    listObjectsV2: client.listObjectsV2.bind(client),
  };
  return { client, s3Like, count, log };
}

describeOn('s3', 'what S3 is asked', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startS3();
  }, 90_000);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('two requests take a lock, and one gives it back; to take it again needs one', async () => {
    const { client, s3Like, log } = counted(server.port);
    await using locks = createLocks(s3(s3Like, 'locks'), { ttl: '90s' });
    await locks.mutex('first').run(() => {}); // with the first lock of a process comes the proof of the store
    log.length = 0;
    const lease = await locks.mutex('invoice').acquire();
    expect(log, 'to take').toEqual(['gets holdfast/l/invoice', 'puts holdfast/l/invoice']);
    await lease.release();
    expect(log.slice(2), 'to give back').toEqual(['puts holdfast/l/invoice']);
    await locks.mutex('invoice').run(() => {});
    expect(log.slice(3), 'again').toEqual(['puts holdfast/l/invoice', 'puts holdfast/l/invoice']);
    client.destroy();
  });

  test('an hour of holding takes at most 130 requests, as the page says', { timeout: 120_000 }, async () => {
    const { client, s3Like, count } = counted(server.port);
    const clock = manualClock();
    /** All that is under way is answered before the clock goes on: what is counted does not depend on how quick the store is. */
    const settled = async <T>(work: Promise<T>): Promise<T> => {
      let over = false;
      const end = (): void => {
        over = true;
      };
      work.then(end, end);
      while (!over) {
        await pass(1);
        if (count.underWay === 0) await clock.advance(1);
      }
      return work;
    };
    const locks = createLocks(s3(s3Like, 'locks', { clock }), { clock, ttl: '90s' });
    const lease = await settled(locks.mutex('hour').acquire());
    const { puts, gets } = count;
    for (let second = 0; second < 3_600; second++) {
      await clock.advance(1_000);
      while (count.underWay > 0) await pass(1);
    }
    expect(lease.held).toBe(true);
    const [writes, reads] = [count.puts - puts, count.gets - gets];
    expect(writes + reads).toBeLessThanOrEqual(130);
    // $ of S3 Standard in the cheapest regions, for a thousand writes and a thousand reads.
    const price = ((writes * 0.005 + reads * 0.0004) / 1_000).toFixed(4);
    expect(page).toContain(`| ${writes} writes, ${reads} reads | $${price} |`);
    await settled(lease.release());
    await settled(locks.close());
    client.destroy();
  });
});
