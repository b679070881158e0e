import { readFileSync } from 'node:fs';
import { setTimeout as pass, setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { type S3Like, s3 } from '../../../src/backends/s3/index.ts';
import { createLocks } from '../../../src/index.ts';
import { s3Client, startS3 } from '../../kit/s3.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';

const page = readFileSync(new URL('../../../docs/backends/register.md', import.meta.url), 'utf8');

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
    getObject: counting('gets', async (...input: Parameters<S3Like['getObject']>) => {
      const { Body, ETag } = await client.getObject(...input);
      const text = await Body!.transformToString(); // it is under way until all of it is here
      return { ETag, Body: { transformToString: async () => text } };
    }),
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
    await pass(20); // what comes after the grant is seen, too
    expect(log, 'to take').toEqual(['gets holdfast/l/invoice', 'puts holdfast/l/invoice']);
    await lease.release();
    expect(log.slice(2), 'to give back').toEqual(['puts holdfast/l/invoice']);
    await locks.mutex('invoice').run(() => {});
    expect(log.slice(3), 'again').toEqual(['puts holdfast/l/invoice', 'puts holdfast/l/invoice']);
    client.destroy();
  });

  describe('on a clock that is set by hand', () => {
    const clients: ReturnType<typeof counted>[] = [];
    afterAll(() => {
      for (const { client } of clients) client.destroy();
    });
    const clock = manualClock();
    const quiet = (): boolean => clients.every(({ count }) => count.underWay === 0);
    const open = () => {
      const asked = counted(server.port);
      clients.push(asked);
      return { ...asked, locks: createLocks(s3(asked.s3Like, 'locks', { clock }), { clock, ttl: '90s' }) };
    };
    /** All that is under way is answered before the clock goes on: what is counted does not depend on how quick the store is. */
    const settled = <T>(work: Promise<T>): Promise<T> =>
      stepUntilEnd(work, async () => {
        await pass(1);
        if (quiet()) await clock.advance(1);
      });
    const hour = async (): Promise<void> => {
      for (let tick = 0; tick < 3_600 * 4; tick++) {
        await clock.advance(250);
        do await turn();
        while (!quiet());
      }
    };
    const price = (writes: number, reads: number): string => ((writes * 0.005 + reads * 0.0004) / 1_000).toFixed(4);

    test('an hour of holding takes at most 130 requests, as the page says', { timeout: 120_000 }, async () => {
      const { locks, count } = open();
      await settled(locks.mutex('first').run(() => {}));
      const before = { ...count };
      const lease = await settled(locks.mutex('hour').acquire());
      expect([count.puts - before.puts, count.gets - before.gets], 'to take, by this clock, too').toEqual([1, 1]);
      const { puts, gets } = count;
      await hour();
      expect(lease.held).toBe(true);
      const [writes, reads] = [count.puts - puts, count.gets - gets];
      expect(writes + reads).toBeLessThanOrEqual(130);
      expect(page).toContain(`| ${writes} writes, ${reads} reads | $${price(writes, reads)} |`);
      await settled(lease.release());
      await settled(locks.close());
    });

    test('an hour of waiting takes as many requests as the page says', { timeout: 120_000 }, async () => {
      const [holder, waiter] = [open(), open()];
      const lease = await settled(holder.locks.mutex('line').acquire());
      await settled(waiter.locks.mutex('first').run(() => {}));
      const before = [waiter, holder].map(({ count }) => ({ ...count }));
      const stop = new AbortController();
      const waits = waiter.locks.mutex('line').acquire({ wait: '2h', signal: stop.signal });
      waits.catch(() => {});
      await hour();
      expect(lease.held).toBe(true);
      const counts = [waiter, holder].map(({ count: { puts, gets } }, n) => [
        puts - before[n]!.puts,
        gets - before[n]!.gets,
      ]);
      // How often two meet is chance.
      const told = /wait an hour for it \| (\d+) writes, (\d+) reads; of the holder (\d+) writes, (\d+) reads/.exec(
        page,
      );
      for (const [n, count] of counts.flat().entries()) {
        const figure = Number(told?.[n + 1]);
        expect(Math.abs(count - figure), `${counts}, where the page says ${told?.slice(1)}`).toBeLessThanOrEqual(
          10 + figure / 10,
        );
      }
      stop.abort();
      await settled(waits.catch(() => {}));
      await settled(lease.release());
      for (const { locks } of [holder, waiter]) await settled(locks.close());
    });
  });
});
