import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultProxy, startProxy } from '../kit/proxy.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { Desk, type Shell } from './shell.ts';

describeOn('redis', 'the command line where the engine is away for two seconds as it starts', () => {
  let server: Server;
  let desk: Desk;
  beforeAll(async () => {
    server = await startRedis({ user: ['app', 'on', '>secret', '~*', '&*', '+@all'] });
    desk = new Desk();
  });
  afterAll(async () => {
    desk?.[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const AWAY = 2_000;
  /** Who is there again so much later. */
  const away = async (proxy: FaultProxy): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, AWAY));
    await proxy.pass();
  };

  async function startedAway(args: (url: string) => readonly string[]): Promise<readonly [Shell, FaultProxy]> {
    const proxy = await startProxy(server.port);
    proxy.refuse();
    return [desk.start(...args(`redis://127.0.0.1:${proxy.port}`)), proxy];
  }

  const tick = (): string => new Date().toISOString();
  const ran = ['--', 'echo', 'ran'] as const;

  test.each<[string, (url: string) => readonly string[]]>([
    ['once', (url) => ['once', 'nightly', '--tick', tick(), '-u', url, ...ran]],
    ['run with --wait', (url) => ['run', 'waits', '--wait', '20s', '-u', url, ...ran]],
    ['run without --wait', (url) => ['run', 'free', '-u', url, ...ran]],
    ['lead', (url) => ['lead', 'leads', '--one-term', '-u', url, ...ran]],
  ])('%s: the command runs', async (_title, args) => {
    const [shell, proxy] = await startedAway(args);
    await using _shell = shell;
    await using _proxy = proxy;
    await away(proxy);
    expect(await shell.end()).toMatchObject({ code: 0, stdout: 'ran\n' });
  });

  test.each<[string, (url: string) => readonly string[]]>([
    [
      'once, when the tick is late',
      (url) => ['once', 'late', '--tick', tick(), '--within', '700ms', '-u', url, ...ran],
    ],
    ['run, when --wait is over', (url) => ['run', 'over', '--wait', '700ms', '-u', url, ...ran]],
    ['run --wait 0, at once', (url) => ['run', 'never', '--wait', '0', '-u', url, ...ran]],
  ])('%s: ends with 69', async (_title, args) => {
    const [shell, proxy] = await startedAway(args);
    await using _shell = shell;
    await using _proxy = proxy;
    expect(await shell.end(10_000)).toMatchObject({
      code: 69,
      stdout: '',
      stderr: expect.stringMatching(/could not connect/),
    });
  });

  test('a signal ends the wait for the engine', async () => {
    const [shell, proxy] = await startedAway((url) => ['lead', 'told', '-u', url, ...ran]);
    await using _shell = shell;
    await using _proxy = proxy;
    const complaints = (): number => shell.stderr.match(/Trying again/g)?.length ?? 0;
    await expect.poll(complaints, { timeout: 20_000 }).toBe(1);
    shell.child.kill('SIGTERM');
    expect((await shell.end()).code).toBe(143);
    expect(complaints(), 'the same trouble is told once').toBe(1);
  });

  test('a wrong password is an error at once', async () => {
    const url = server.url.replace('//', '//app:wrong@');
    await using shell = desk.start('lead', 'refused', '-u', url, ...ran);
    expect(await shell.end(10_000)).toMatchObject({ code: 69, stderr: expect.stringMatching(/WRONGPASS/) });
  });
});
