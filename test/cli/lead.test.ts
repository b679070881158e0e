import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Desk } from './shell.ts';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
});
afterAll(() => desk[Symbol.dispose]());

/** Leads until it is told to stop by SIGTERM, and says so. */
const LEAD =
  'trap "echo stopping; exit 0" TERM; echo "leads $HOLDFAST_KEY $HOLDFAST_TOKEN"; while :; do sleep 0.05; done 2>/dev/null';
const command = ['--', 'sh', '-c', LEAD] as const;
const token = (stdout: string): number => Number(/leads \S+ (\d+)/.exec(stdout)![1]);

describeOn('file', 'holdfast lead', () => {
  test('one leads, the other takes over when it is told to stop, and who follows it', async () => {
    await using follower = desk.start('who', 'shift', '--follow', '--every', '50ms');
    await follower.prints('nobody\n');
    await using first = desk.start('lead', 'shift', ...command);
    await first.prints('leads shift');
    await using second = desk.start('lead', 'shift', ...command);
    const { code, stdout } = await desk.run('who', 'shift', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      at: expect.any(Number),
      label: expect.stringMatching(new RegExp(`:${first.child.pid} sh$`)),
      token: `${token(first.stdout)}`,
    });
    await follower.prints(`:${first.child.pid} sh  token ${token(first.stdout)}\n`);
    expect(second.stdout, 'the second one waits').toBe('');
    first.child.kill('SIGTERM');
    expect(await first.end()).toMatchObject({ code: 0, stdout: expect.stringMatching(/stopping\n$/) });
    await second.prints('leads shift');
    expect(token(second.stdout)).toBeGreaterThan(token(first.stdout));
    await follower.prints(`:${second.child.pid} sh  token ${token(second.stdout)}\n`);
    second.child.kill('SIGTERM');
    await second.end();
    follower.child.kill('SIGINT');
    expect((await follower.end()).code).toBe(0);
    expect(await desk.run('who', 'shift', '--json')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^\{"at":\d+,"label":null,"token":null,"since":null\}\n$/),
    });
  }, 60_000);

  test('a command that ends is told, and started again in the next term, with a higher token', async () => {
    const path = join(desk.folder, 'terms');
    const append = ['--', 'sh', '-c', `echo $HOLDFAST_TOKEN >> '${path}'; exit 3`];
    await using shell = desk.start('lead', 'restless', ...append);
    const terms = (): number[] => {
      try {
        return readFileSync(path, 'utf8').trim().split('\n').map(Number);
      } catch {
        return [];
      }
    };
    await until('it has led three terms', () => terms().length >= 3);
    shell.child.kill('SIGTERM');
    const { stderr } = await shell.end();
    expect(stderr).toMatch(/^holdfast: the command ended with 3; standing for election again\n/);
    expect([...terms()].sort((a, b) => a - b)).toEqual(terms());
    expect(new Set(terms()).size).toBe(terms().length);
  });

  test('a signal ends the wait, and leaves no candidate behind', async () => {
    await using leader = desk.start('lead', 'waits', ...command);
    await leader.prints('leads');
    await using candidate = desk.start('lead', 'waits', '--', 'echo', 'ran');
    const stood = async (): Promise<number> =>
      (await desk.run('show', 'waits', '--json')).stdout.trim().split('\n').length;
    await until('it stands', async () => (await stood()) === 2);
    candidate.child.kill('SIGINT');
    expect(await candidate.end()).toMatchObject({ code: 130, stdout: '', stderr: '' });
    expect(await stood()).toBe(1);
  }, 60_000);

  test('a signal that ends the wait for the next term gives its own code, not that of the last term', async () => {
    // A signal that comes too late for the pause meets a command that it ends.
    const script = 'mkdir first && exit 3; mkdir second && exit 3; exec sleep 30';
    await using shell = desk.start('lead', 'brief', '--', 'sh', '-c', script);
    await until('it has led twice', () => shell.stderr.split('standing for election again').length > 2);
    shell.child.kill('SIGTERM');
    expect((await shell.end()).code, 'the code of the signal').toBe(143);
  }, 60_000);

  test.each([
    ['--one-term: the exit code is the command’s', ['--one-term', '--', 'sh', '-c', 'exit 7'], 7],
    ['a command that is not there', ['--', './not-here'], 127],
    ['no command', [], 64],
    ['a lease that is no time', ['--ttl', 'long', '--', 'true'], 64],
  ])('%s', async (_title, args, code) => {
    expect(await desk.run('lead', 'codes', ...args)).toMatchObject({ code, stdout: '' });
  });

  test('kill −9 of the leader ends its command, and the next one leads', async () => {
    await using first = desk.start('lead', 'killed', ...command);
    await first.prints('leads');
    await using second = desk.start('lead', 'killed', ...command);
    first.child.kill('SIGKILL');
    await second.prints('leads');
    expect(token(second.stdout)).toBeGreaterThan(token(first.stdout));
  }, 60_000);
});

describeOn('redis', 'holdfast lead that loses its engine', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('a lead that is taken away ends the command; it leads again in the next term', async () => {
    await using shell = desk.start('lead', 'robbed', '--url', server.url, '--ttl', '1500ms', ...command);
    await shell.prints('leads');
    const release = ['release', '--force', 'robbed', '--url', server.url, '--reason', 'a test', '--yes'];
    expect((await desk.run(...release)).code).toBe(0);
    await shell.prints(/leads[\s\S]*leads/);
    expect(shell.stderr).toMatch(/^holdfast: the hold of "robbed" on redis is lost/);
    shell.child.kill('SIGTERM');
    expect((await shell.end()).code).toBe(0);
  }, 60_000);

  test('an engine that goes away ends the command; it is told once, asked again, and led on when it is back', async () => {
    await using shell = desk.start('lead', 'away', '--url', server.url, '--ttl', '1500ms', ...command);
    await shell.prints('leads');
    await server.kill();
    await shell.prints('stopping');
    await until('it complains', () => shell.stderr.includes('Trying again'), 40_000);
    await server.restart();
    await shell.prints(/leads[\s\S]*leads/, 40_000);
    expect(shell.stderr.match(/Trying again/g)).toHaveLength(1);
    shell.child.kill('SIGTERM');
    expect((await shell.end()).code).toBe(0);
  }, 120_000);
});
