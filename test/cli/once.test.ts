import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tickAt } from '../../products/cli/commands/once.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Desk } from './shell.ts';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
});
afterAll(() => desk[Symbol.dispose]());

/** The tick that is due now, so that no period ends in the middle of a test. */
const now = (): string => new Date().toISOString();
const tell = ['--', 'sh', '-c', 'echo "$HOLDFAST_KEY $HOLDFAST_TICK $HOLDFAST_TOKEN"'] as const;
const HOLD = ['--', 'sh', '-c', 'echo ready; read line'] as const;

test.each([
  ['2026-05-04T12:00:00.000Z', '5m', '2026-05-04T12:00:00.000Z'],
  ['2026-05-04T12:04:58.999Z', '5m', '2026-05-04T12:00:00.000Z'],
  ['2026-05-04T12:04:59.000Z', '5m', '2026-05-04T12:05:00.000Z'],
  ['2026-05-04T03:00:20.000Z', '1d', '2026-05-04T00:00:00.000Z'],
])('at %s, of clocks that may differ by a second, the tick of a period of %s is %s', (at, period, tick) => {
  expect(tickAt(period, 1_000, Date.parse(at))).toBe(Date.parse(tick));
});

test('a period is at least twice the skew, and at most a day', () => {
  expect(() => tickAt('3s', 2_000, 0)).toThrow(/--tick is 3s; it must be at least 4 s, which is twice --skew/);
  expect(() => tickAt('7d', 1_000, 0)).toThrow(/--tick is "7d"; it must be from/);
});

describeOn('file', 'holdfast once', () => {
  test('of five at once one runs the command, and all exit with 0, without a word', async () => {
    const outcomes = await Promise.all(
      [1, 2, 3, 4, 5].map(() => desk.run('once', 'five', '--tick', '1d', '--within', '1d', ...tell)),
    );
    expect(outcomes.map(({ code, stderr }) => `${code}${stderr}`)).toEqual(Array(5).fill('0'));
    const ran = outcomes.map(({ stdout }) => stdout).filter(Boolean);
    expect(ran).toEqual([expect.stringMatching(/^five \d{4}-\d\d-\d\dT00:00:00\.000Z \d+\n$/)]);
  }, 60_000);

  test('a tick that is named is run once, and the next one is another', async () => {
    const second = Math.floor(Date.now() / 1_000) * 1_000;
    const [tick, next] = [second - 1_000, second].map((ms) => new Date(ms).toISOString()) as [string, string];
    expect((await desk.run('once', 'named', '--tick', tick, ...tell)).stdout).toContain(tick);
    expect(await desk.run('once', 'named', '--tick', tick, ...tell)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect((await desk.run('once', 'named', '--tick', next, ...tell)).stdout).toContain(next);
  }, 60_000);

  test('a command that fails is not run again; with --retry by the one who waits', async () => {
    const fail = ['--', 'sh', '-c', 'echo ran; exit 3'];
    const [one, two] = [now(), now()];
    expect(await desk.run('once', 'fails', '--tick', one, ...fail)).toMatchObject({ code: 3, stdout: 'ran\n' });
    expect(await desk.run('once', 'fails', '--tick', one, ...fail)).toMatchObject({ code: 0, stdout: '' });
    const again = ['once', 'again', '--tick', two, '--retry'];
    await using first = desk.start(...again, '--', 'sh', '-c', 'echo ready; read line; exit 3');
    await first.prints('ready');
    await using second = desk.start(...again, ...tell);
    const waits = async (): Promise<boolean> =>
      (await desk.run('ls', 'again', '--json')).stdout.includes('"held":false');
    await until('the second one waits', waits);
    first.child.stdin.end('\n');
    expect((await first.end()).code).toBe(3);
    expect(await second.end()).toMatchObject({ code: 0, stdout: expect.stringContaining('again') });
    expect(await desk.run(...again, ...tell)).toMatchObject({ code: 0, stdout: '' });
  }, 60_000);

  test('--overlap skip leaves a tick out while an earlier one is run', async () => {
    const skip = (...args: string[]) => ['once', 'long', '--overlap', 'skip', '--tick', ...args];
    await using first = desk.start(...skip(now()), ...HOLD);
    await first.prints('ready');
    expect(await desk.run(...skip(now()), ...tell)).toMatchObject({ code: 0, stdout: '' });
    first.child.stdin.end('\n');
    expect((await first.end()).code).toBe(0);
    expect((await desk.run(...skip(now()), ...tell)).stdout).toContain('long');
  }, 60_000);

  test('a signal ends the wait for the runner; while the command runs it is the command’s', async () => {
    const retry = ['once', 'signalled', '--tick', now(), '--retry'];
    const trap = 'trap "echo heard; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
    await using first = desk.start(...retry, '--', 'sh', '-c', trap);
    await first.prints('ready');
    await using second = desk.start(...retry, ...tell);
    const waits = async (): Promise<boolean> =>
      (await desk.run('ls', 'signalled', '--json')).stdout.includes('"held":false');
    await until('the second one waits', waits);
    second.child.kill('SIGTERM');
    expect(await second.end()).toMatchObject({ code: 143, stdout: '' });
    first.child.kill('SIGTERM');
    expect(await first.end()).toMatchObject({ code: 9, stdout: 'ready\nheard\n' });
  }, 60_000);

  test.each([
    [
      'a tick that is late',
      ['--tick', '2026-05-04T03:00:00Z', '--', 'true'],
      75,
      /the tick 2026-05-04T03:00:00\.000Z of "codes" is \d+d late by the clock/,
    ],
    [
      'a tick that is early',
      ['--tick', '2999-05-04T03:00:00Z', '--', 'true'],
      75,
      /the tick 2999-05-04T03:00:00\.000Z of "codes" is \d+d early by the clock/,
    ],
    ['no tick', ['--', 'true'], 64, /--tick is missing/],
    ['a tick that is no time', ['--tick', 'noon', '--', 'true'], 64, /--tick is "noon"/],
    ['an overlap that there is not', ['--tick', '1d', '--overlap', 'run', '--', 'true'], 64, /must be 'skip'/],
  ])('%s: the exit code says so', async (_title, args, code, message) => {
    const outcome = await desk.run('once', 'codes', ...args);
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
    expect(outcome.stderr).toMatch(/^holdfast: [^\n]+\n$/);
  });

  test('kill −9 of holdfast: the tick stays taken; with --retry whoever waits runs it', async () => {
    const [kept, retried] = [now(), now()];
    await using first = desk.start('once', 'killed', '--tick', kept, ...HOLD);
    await first.prints('ready');
    first.child.kill('SIGKILL');
    await first.end();
    expect(await desk.run('once', 'killed', '--tick', kept, ...tell)).toMatchObject({ code: 0, stdout: '' });
    const retry = ['once', 'killed too', '--tick', retried, '--retry'];
    await using second = desk.start(...retry, ...HOLD);
    await second.prints('ready');
    await using third = desk.start(...retry, ...tell);
    second.child.kill('SIGKILL');
    expect(await third.end(50_000)).toMatchObject({ code: 0, stdout: expect.stringContaining('killed too') });
  }, 60_000);

  test('the key and the folder that it names show in a listing while it runs', async () => {
    const tick = now();
    await using shell = desk.start(
      'once',
      'listed',
      '--tick',
      tick,
      '--url',
      `file:${join(desk.folder, 'own.db')}`,
      ...HOLD,
    );
    await shell.prints('ready');
    const { stdout } = await desk.run('ls', '--json', '--url', `file:${join(desk.folder, 'own.db')}`);
    expect(JSON.parse(stdout)).toMatchObject({ key: `listed@${tick}`, held: true });
    shell.child.stdin.end('\n');
    expect((await shell.end()).code).toBe(0);
  });
});
