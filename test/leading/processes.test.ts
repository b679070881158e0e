import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import type { LeaderCalls } from './leader.worker.ts';

interface Opened extends AsyncDisposable {
  readonly url: string;
}

async function folder(): Promise<Opened> {
  const at = temporaryFolder();
  return { url: `file:${join(at.path, 'locks.db')}`, [Symbol.asyncDispose]: async () => at[Symbol.dispose]() };
}

const ENGINES: readonly [string, Engine, () => Promise<Opened>][] = [
  ['a file', 'file', folder],
  ['Redis', 'redis', startRedis],
  ['PostgreSQL', 'postgres', startPostgres],
  ['etcd', 'etcd', startEtcd],
];
/** ms */
const TTL = 2_000;

for (const [name, engine, open] of ENGINES) {
  describeOn(engine, `leaders in several processes, on ${name}`, () => {
    let server: Opened;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server[Symbol.asyncDispose]());

    const start = (): Promise<WorkerProcess<LeaderCalls>> =>
      startWorker(new URL('leader.worker.ts', import.meta.url), { env: { URL: server.url } });

    /** Two candidates, of which the first leads. */
    async function pair(election: string) {
      const first = await start();
      await first.call('campaign', election, TTL, 'first');
      const token = (await first.heard('elected')) as bigint;
      const second = await start();
      await second.call('campaign', election, TTL, 'second');
      return { first, second, token };
    }

    test('a leader that is told to stop is followed at once, and observers name the next', async () => {
      const { first, second, token } = await pair('stop');
      await using _ = first;
      await using __ = second;
      expect(await second.call('current', 'stop')).toMatchObject({ label: 'first', token });
      await first.call('stop');
      expect((await second.heard('elected', TTL)) as bigint).toBeGreaterThan(token);
      expect(await first.call('current', 'stop')).toMatchObject({ label: 'second' });
      await second.call('stop');
      expect(await first.call('current', 'stop')).toBeNull();
    });

    test('a leader that is killed is followed when its lease is over', async () => {
      const { first, second, token } = await pair('kill');
      await using _ = first;
      await using __ = second;
      await first.kill();
      expect((await second.heard('elected', TTL + 10_000)) as bigint).toBeGreaterThan(token);
      await second.call('stop');
    });

    test('a leader that is stopped past its lease ends its term as it goes on, and stands for election again', async () => {
      const { first, second, token } = await pair('pause');
      await using _ = first;
      await using __ = second;
      first.pause();
      const next = (await second.heard('elected', TTL + 10_000)) as bigint;
      first.resume();
      expect(await first.heard('ended')).toEqual({ token, held: false });
      await second.call('stop');
      expect((await first.heard('elected', TTL + 10_000)) as bigint).toBeGreaterThan(next);
      await first.call('stop');
    });
  });
}
