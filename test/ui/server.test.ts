import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { PageServer } from '../../products/ui/server.ts';
import type { Snapshot } from '../../products/ui/wire.ts';
import { postgresAdvisory } from '../../src/backends/postgres/index.ts';
import { connect } from '../../src/connect/index.ts';
import { createLocks } from '../../src/index.ts';
import { Desk } from '../cli/shell.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startPostgres } from '../kit/postgres.ts';
import { askRedis, startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Site } from './site.ts';

/** What a page is told, until it is closed. */
class Stream implements Disposable {
  readonly #ended = new AbortController();
  snapshot: Snapshot | undefined;

  constructor(url: string, query = '') {
    this.#read(`${url}events?${query}`).catch(() => {});
  }

  async #read(url: string): Promise<void> {
    const { body } = await fetch(url, { signal: this.#ended.signal });
    let text = '';
    for await (const part of body!.pipeThrough(new TextDecoderStream())) {
      const messages = (text + part).split('\n\n');
      text = messages.pop()!;
      for (const message of messages) if (message.startsWith('data: ')) this.snapshot = JSON.parse(message.slice(6));
    }
  }

  /** Settled when it is told this. */
  async tells(what: string, probe: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
    await until(what, () => this.snapshot !== undefined && probe(this.snapshot)).catch((error) => {
      throw new Error(`${error.message}. It was told ${JSON.stringify(this.snapshot)}`);
    });
    return this.snapshot!;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

const pace = { least: 100, share: undefined };

describe('the server of the page', () => {
  test('answers whoever has its address, with headers that shut the page off, and nobody else', async () => {
    using folder = temporaryFolder();
    await using site = await Site.start(`file:${folder.path}/a.db`);
    const { headers, status } = await fetch(site.url);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    const { origin, port } = new URL(site.url);
    for (const path of ['', '/', '/wrong/', '/page.js', '/events']) {
      const refused = await fetch(origin + path);
      expect([path, refused.status]).toEqual([path, 403]);
      expect(await refused.text()).toContain('holdfast ui');
    }
    expect((await fetch(`${site.url}../../etc/passwd`)).status).toBe(403);
    expect((await fetch(`${site.url}nothing`)).status).toBe(404);
    expect(await statusOf(Number(port), new URL(site.url).pathname, { host: `evil.example:${port}` })).toBe(403);
    const stolen = { origin: 'http://evil.example', 'content-type': 'application/json' };
    expect((await fetch(`${site.url}release`, { method: 'POST', headers: stolen, body: '{}' })).status).toBe(403);
    const long = { method: 'POST', headers: { ...stolen, origin }, body: JSON.stringify('x'.repeat(9_000)) };
    expect((await fetch(`${site.url}look`, long)).status).toBe(413);
  });

  const statusOf = async (port: number, path: string, headers: Record<string, string>): Promise<number> => {
    const asked = request({ port, path, headers }).end();
    const [answer] = await once(asked, 'response');
    answer.resume();
    return answer.statusCode;
  };

  test('is wrong usage, or a port that is taken, said in a line', async () => {
    using desk = new Desk();
    expect(await desk.run('ui', '--port', '99999')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--port is "99999"/),
    });
    expect(await desk.run('ui', '--every', '1ms')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/from 100 ms/),
    });
    expect(await desk.run('ui', '--url', 'redsi://a')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/no engine has/),
    });
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const taken = await desk.run('ui', '--port', `${port}`);
    expect(taken).toMatchObject({ code: 69, stdout: '', stderr: expect.stringContaining(`port ${port} is used`) });
    other.close();
  });

  test('ends at once by ^C', async () => {
    using folder = temporaryFolder();
    await using site = await Site.start(`file:${folder.path}/a.db`);
    using stream = new Stream(site.url);
    await stream.tells('all is seen', ({ look }) => look.state === 'seen');
    const began = performance.now();
    site.shell.child.kill('SIGINT');
    expect((await site.shell.end()).code).toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  describeOn('redis', 'on Redis', () => {
    test('asks once for all pages, and nothing while nobody looks', async () => {
      await using redis = await startRedis();
      const locks = connect(redis.url);
      const page = new PageServer({ open: () => locks, engine: 'e', prefix: '', pace, port: 0 });
      const url = await page.listen();
      try {
        const scans = async (): Promise<number> =>
          Number(/cmdstat_scan:calls=(\d+)/.exec(await askRedis(redis.port, 'INFO commandstats'))?.[1] ?? 0);
        await locks;
        await sleep(300);
        expect(await scans(), 'nobody has looked yet').toBe(0);
        {
          using first = new Stream(url);
          using _second = new Stream(url, 'sort=key');
          using _third = new Stream(url, 'q=a');
          await first.tells('all is seen', ({ look }) => look.state === 'seen');
          const [before, began] = [await scans(), performance.now()];
          await sleep(1_000);
          const looks = (await scans()) - before;
          const due = (performance.now() - began) / 100;
          expect(looks, 'a look each 100 ms, for all three').toBeLessThanOrEqual(due * 1.2);
        }
        await sleep(3_200);
        const after = await scans();
        await sleep(400);
        expect(await scans(), 'all have gone').toBe(after);
      } finally {
        await page.close();
      }
    });

    test('says so where its rights do not suffice, and what it may look at all the same', async () => {
      await using redis = await startRedis({ user: ['poor', 'on', '>secret', '~*', '&*', '+@all', '-scan'] });
      await using site = await Site.start(redis.url.replace('//', '//poor:secret@'));
      using stream = new Stream(site.url);
      const { look, engine } = await stream.tells('it fails', ({ look }) => look.state === 'failing');
      expect(look.error).toMatch(/NOPERM|no permissions/i);
      expect(engine).not.toContain('secret');
    });

    test('ends at once by ^C though the engine hangs', async () => {
      await using redis = await startRedis();
      await using site = await Site.start(redis.url);
      using stream = new Stream(site.url);
      await stream.tells('all is seen', ({ look }) => look.state === 'seen');
      redis.pause();
      await sleep(1_200); // a look is under way
      const began = performance.now();
      site.shell.child.kill('SIGINT');
      expect((await site.shell.end()).code).toBe(0);
      expect(performance.now() - began).toBeLessThan(5_000);
      redis.resume();
    });
  });

  describeOn('postgres', 'on an engine that cannot list its locks', () => {
    test('says so, and shows what endangers them', async () => {
      await using server = await startPostgres();
      const pool = new pg.Pool({ connectionString: server.url });
      pool.on('error', () => {});
      const open = async () => createLocks(postgresAdvisory(pool));
      const page = new PageServer({ open, engine: 'advisory', prefix: '', pace, port: 0 });
      try {
        using stream = new Stream(await page.listen());
        const told = await stream.tells('what was found', ({ findings }) => findings !== null);
        expect(told.look).toMatchObject({ state: 'unable', error: expect.stringContaining('cannot list its locks') });
      } finally {
        await page.close();
        await pool.end();
      }
    });
  });
});
