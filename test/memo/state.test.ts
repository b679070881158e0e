import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uiHandler } from '../../products/ui/index.ts';
import type { Memo, Snapshot } from '../../products/ui/wire.ts';
import { connect } from '../../src/connect/index.ts';
import type { Locks } from '../../src/index.ts';
import { stateOf } from '../../src/memo/state.ts';
import { Desk } from '../cli/shell.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';

const SECRET = 'a secret word';
const STARTS = { file: async () => undefined, redis: startRedis, postgres: startPostgres };
const HOUR = 3_600_000;

for (const [engine, start] of Object.entries(STARTS)) {
  describeOn(engine as keyof typeof STARTS, `the state of a memo on ${engine}`, () => {
    let server: Server | undefined;
    let desk: Desk;
    let locks: Locks;
    let page: HttpServer;
    let close: () => void;

    beforeAll(async () => {
      server = await start();
      desk = new Desk();
      const url = server?.url ?? `file:${desk.folder}/locks.db`;
      desk.env.HOLDFAST_URL = url;
      locks = await connect(url, { label: 'the runner' });
      const handler = uiHandler(locks);
      close = () => handler.close();
      page = createServer(handler).listen(0, '127.0.0.1');
      await until('it listens', () => page.listening);
    }, 60_000);
    afterAll(async () => {
      close();
      page.close();
      await locks.close();
      desk[Symbol.dispose]();
      await server?.[Symbol.asyncDispose]();
    });

    const show = async (key: string): Promise<string> => {
      const plain = await desk.run('show', key);
      const json = await desk.run('show', key, '--json');
      expect([plain.code, json.code, plain.stdout + json.stdout]).toEqual([0, 0, expect.not.stringContaining(SECRET)]);
      return json.stdout;
    };
    const memoIn = (lines: string): Record<string, unknown> =>
      JSON.parse(lines.split('\n').find((line) => line.includes('"memo"')) ?? 'null');

    /** What the page shows of a key as soon as `is` says that it is that. */
    const onPage = async (key: string, is: (memo: Memo) => boolean): Promise<Memo> => {
      const gone = new AbortController();
      const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/events?key=${encodeURIComponent(key)}`;
      const { body } = await fetch(url, { signal: gone.signal });
      const look = async (): Promise<Memo> => {
        let text = '';
        for await (const part of body!.pipeThrough(new TextDecoderStream())) {
          expect(part).not.toContain(SECRET);
          const messages = (text + part).split('\n\n');
          text = messages.pop()!;
          for (const message of messages.filter((each) => each.startsWith('data: '))) {
            const memo = (JSON.parse(message.slice(6)) as Snapshot).detail?.memo;
            if (memo && is(memo)) return memo;
          }
        }
        throw new Error('the stream ended');
      };
      try {
        return await settleWithin('the page shows it', look());
      } finally {
        gone.abort();
      }
    };

    test('a result that is kept is shown with its token and its age, and not the result', async () => {
      const memo = locks.memo<string>('kept', { keep: '1h' });
      const { token } = await memo.run(() => SECRET);
      const shown = memoIn(await show('kept'));
      expect(shown).toMatchObject({ key: 'kept', memo: 'kept', attempts: 0, token: `${token}` });
      expect(shown.since).toBeLessThan(60_000);
      expect(shown.remaining).toBeGreaterThan(HOUR - 60_000);
      const seen = await onPage('kept', () => true);
      expect(seen).toMatchObject({ state: 'kept', attempts: 0, token: `${token}` });
      expect(seen.left).toBeGreaterThan(HOUR - 60_000);
      await memo.forget();
      expect((await desk.run('show', 'kept')).stderr).toContain('Nobody holds or waits');
    }, 60_000);

    test('a run, its failure, and the end of all attempts are shown, and not the error', async () => {
      const memo = locks.memo<string>('tried', { keep: '1h', attempts: 2 });
      const { promise, reject } = Promise.withResolvers<string>();
      const fails = memo.run(() => promise).catch((error: Error) => error.message);
      expect(await onPage('tried', ({ state }) => state === 'running')).toMatchObject({ attempts: 1, token: null });
      const lines = await show('tried');
      expect(lines.trim().split('\n')).toEqual([
        expect.stringContaining('"held":true'),
        expect.stringContaining('"memo":"running"'),
      ]);
      reject(new Error(SECRET));
      expect(await fails).toBe(SECRET);
      expect(await onPage('tried', ({ state }) => state === 'absent')).toMatchObject({ attempts: 1, left: null });
      expect(memoIn(await show('tried'))).toMatchObject({ memo: 'absent', attempts: 1, token: null, remaining: null });
      await memo.run(() => Promise.reject(new Error(SECRET))).catch(() => {});
      expect(await onPage('tried', ({ state }) => state === 'poisoned')).toMatchObject({ since: null });
      expect((await desk.run('show', 'tried')).stdout).toMatch(/^memo: poisoned, token \d+, gone in /);
    }, 60_000);

    test('an error that is kept, also sealed, is shown as failed', async () => {
      const seal = { seal: (text: string) => Buffer.from(text).toString('hex'), open: () => '' };
      const options = { keep: '1h', keepError: () => '1h' as const, seal } as const;
      const failing = locks.memo<string>('failed', options).run(() => Promise.reject(new Error(SECRET)));
      await expect(failing).rejects.toThrow(SECRET);
      expect(await onPage('failed', () => true)).toMatchObject({ state: 'failed', since: null });
      expect(memoIn(await show('failed'))).toMatchObject({ memo: 'failed', since: null });
    }, 60_000);

    test('a key that is a lock only has no state', async () => {
      await using _lease = await locks.mutex('lock').acquire();
      expect(await show('lock')).not.toContain('"memo"');
    }, 60_000);
  });
}

test('words of a newer version count as kept, and a mark for a result that could not be kept as failed', () => {
  const texts = ['1 kept plain - "x"', '1 unkept plain - LOCK_TOO_LARGE', '2 other', '1 failed plain - {}'];
  expect(texts.map(stateOf)).toEqual(['kept', 'failed', 'kept', 'failed']);
});
