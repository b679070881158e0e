import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byAge, type KeyQueueView, overview } from '../../products/cli/listing.ts';
import { fitting } from '../../products/cli/terminal/screen.ts';
import { span } from '../../products/cli/terminal/table.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Desk, hasTerminal, MAIN, Shell } from './shell.ts';

const HOLD = ['--', 'sh', '-c', 'echo ready; read line'] as const;

interface Shown {
  readonly key: string;
  readonly held: boolean;
  readonly as: string;
  readonly token: string;
  readonly label: string;
  readonly remaining: number;
}

const json = (text: string): Shown[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe.each(['file', 'redis'] as const)('on %s', (engine) => {
  describeOn(engine, 'the line of a key', () => {
    let desk: Desk;
    let server: Server | undefined;
    const started: Shell[] = [];

    /** One holds, one waits, in that order. */
    async function line(key: string): Promise<readonly [Shell, Shell]> {
      const holder = desk.start('run', key, ...HOLD);
      started.push(holder);
      await holder.prints('ready');
      const waiter = desk.start('run', key, ...HOLD);
      started.push(waiter);
      await until('it waits', async () => (await shown(key)).length === 2);
      return [holder, waiter];
    }

    const shown = async (key: string): Promise<Shown[]> => json((await desk.run('show', key, '--json')).stdout);

    beforeAll(async () => {
      server = engine === 'redis' ? await startRedis() : undefined;
      desk = new Desk(server ? { HOLDFAST_URL: server.url } : {});
    });
    afterAll(async () => {
      for (const shell of started) shell.child.stdin.end('\n');
      for (const shell of started) await shell[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
      desk[Symbol.dispose]();
    });

    test('ls lists a key in a row, and only those with the prefix', async () => {
      await line('list:1');
      const { stdout } = await desk.run('ls', 'list:');
      expect(stdout.trim().split('\n')).toEqual([
        expect.stringMatching(/^KEY +HELD BY +TOKEN +SINCE +EXPIRES IN +WAITING$/),
        expect.stringMatching(/^list:1 +\S+:\d+ sh +\d+ +[\d.]+s +[\d.]+s +1$/),
      ]);
      expect(await desk.run('ls', 'nothing:')).toMatchObject({ code: 0, stdout: '' });
      expect(await desk.run('ls', 'nothing:', '--json')).toMatchObject({ code: 0, stdout: '', stderr: '' });
    });

    test('show has the holder first, with its token, and then who waits', async () => {
      const [holder, waiter] = await line('line');
      expect(await shown('line')).toEqual([
        expect.objectContaining({
          held: true,
          as: 'exclusive',
          label: expect.stringContaining(`:${holder.child.pid}`),
        }),
        expect.objectContaining({ held: false, label: expect.stringContaining(`:${waiter.child.pid}`) }),
      ]);
      const { stdout } = await desk.run('show', 'line');
      expect(stdout).toMatch(/1 +holds .*\n2 +waits /);
    });

    test('show tells readers and permits apart', async () => {
      const reader = desk.start('run', 'shared', '--shared', ...HOLD);
      const permit = desk.start('run', 'counted', '--permits', '3', ...HOLD);
      started.push(reader, permit);
      await Promise.all([reader.prints('ready'), permit.prints('ready')]);
      expect((await shown('shared'))[0]?.as).toBe('shared');
      expect((await shown('counted'))[0]?.as).toBe('1 of 3');
    });

    test('watch follows what changes', async () => {
      await using watch = desk.start('watch', 'watched', '--every', '100ms', '--json');
      await watch.prints('"entries":[]');
      const [holder, waiter] = await line('watched');
      await watch.prints(new RegExp(`"held":true,[^}]*:${holder.child.pid} sh`));
      holder.child.stdin.end('\n');
      await watch.prints(new RegExp(`"held":true,[^}]*:${waiter.child.pid} sh`));
      watch.child.kill('SIGINT');
      expect((await watch.end()).code).toBe(0);
    });

    test('release --force takes it from the holder, and the next one has it', async () => {
      const [holder, waiter] = await line('forced');
      const force = ['release', '--force', 'forced'];
      expect(await desk.run(...force, '--yes')).toMatchObject({ code: 64 });
      expect(await desk.run(...force, '--reason', 'a test')).toMatchObject({ code: 64 });
      expect(await desk.run('release', 'forced', '--reason', 'a test', '--yes')).toMatchObject({ code: 64 });
      const other = ['--token', '12345678901234567890', '--reason', 'a test', '--yes'];
      expect(await desk.run(...force, ...other)).toMatchObject({ code: 1 });
      expect(holder.child.exitCode).toBeNull();
      const [{ token }] = (await shown('forced')) as [Shown];
      const ours = ['--token', token, '--reason', 'a test', '--yes'];
      expect(await desk.run(...force, ...ours)).toMatchObject({ code: 0, stdout: 'Evicted one holder: a test\n' });
      await waiter.prints('ready');
    });

    test('check says what it found', async () => {
      const { code, stdout } = await desk.run('check');
      expect([0, 1]).toContain(code);
      expect(stdout).not.toBe('');
      const { stdout: lines } = await desk.run('check', '--json');
      for (const each of lines.split('\n').filter(Boolean)) expect(JSON.parse(each)).toHaveProperty('advice');
    });

    test('a key cannot steer the terminal', async () => {
      const evil = desk.start('run', 'evil\u001b[2J\nkey', ...HOLD);
      started.push(evil);
      await evil.prints('ready');
      const { stdout } = await desk.run('ls', 'evil');
      expect(stdout).toContain('evil\\u001b[2J\\u000akey');
      expect(stdout).not.toContain('\u001b');
    });
  });
});

const noes = [
  ['no', 'n\n'],
  ['^C', '\x03'],
  ['^D', '\x04'],
] as const;
test.runIf(hasTerminal).each(noes)('release asks in a terminal, and %s is no', async (_name, answer) => {
  using desk = new Desk();
  await using holder = desk.start('run', 'asked', ...HOLD);
  await holder.prints('ready');
  await using shell = desk.terminal(['release', '--force', 'asked', '--reason', 'a test']);
  await shell.prints('[y/N]');
  expect(shell.stdout).toContain('holds');
  shell.child.stdin.write(answer);
  const { code, stdout } = await shell.end();
  expect(stdout).not.toContain('holdfast:');
  expect(code).toBe(1);
  expect(holder.child.exitCode).toBeNull();
  holder.child.stdin.end('\n');
});

test.runIf(hasTerminal)(
  'release takes it from those it has shown, not from who has it by the time of the answer',
  async () => {
    using desk = new Desk();
    await using shown = desk.start('run', 'asked', ...HOLD);
    await shown.prints('ready');
    await using next = desk.start('run', 'asked', ...HOLD);
    await using shell = desk.terminal(['release', '--force', 'asked', '--reason', 'a test']);
    await shell.prints('[y/N]');
    shown.child.stdin.end('\n');
    await next.prints('ready');
    shell.child.stdin.write('y\n');
    const { code, stdout } = await shell.end();
    expect(stdout).toContain('Nobody held it in ');
    expect(code).toBe(1);
    next.child.stdin.end('\n');
    expect((await next.end()).code).toBe(0);
  },
);

test.runIf(hasTerminal)('watch fits the terminal and leaves it as it was', async () => {
  using desk = new Desk();
  await using shell = desk.terminal(['watch'], { rows: 4, cols: 20 });
  await using holder = desk.start('run', 'a key of some length that does not fit', ...HOLD);
  await shell.prints('…');
  shell.child.stdin.write('\x03');
  expect((await shell.end()).code).toBe(0);
  expect(shell.stdout.startsWith('\u001b[?1049h')).toBe(true);
  expect(shell.stdout.endsWith('\u001b[?1049l')).toBe(true);
  holder.child.stdin.end('\n');
});

test.runIf(hasTerminal)('watch shows something in a terminal that does not know its size', async () => {
  using desk = new Desk();
  await using shell = desk.terminal(['watch'], { rows: 0, cols: 0 });
  await shell.prints('Nobody holds');
  shell.child.stdin.write('\x03');
  expect((await shell.end()).code).toBe(0);
});

test('who has read enough ends it, without a word', async () => {
  using desk = new Desk();
  const line = '"$0" "$1" watch --json --every 100ms | head -n 1';
  await using shell = new Shell('sh', ['-c', line, process.execPath, MAIN], { env: desk.env });
  const { stdout, stderr } = await shell.end();
  expect(stdout).toMatch(/^\{"at":\d+,"entries":\[\]\}\n$/);
  expect(stderr).toBe('');
});

test('the oldest holds come first, then those of unknown age', () => {
  const line = (key: string, ...since: (number | undefined)[]) =>
    ({ key, holders: since.map((each) => ({ since: each })), waiters: [] }) as unknown as KeyQueueView;
  const lines = [line('free'), line('new', 5), line('unknown', undefined), line('old', 90, 1)];
  expect(lines.sort(byAge).map(({ key }) => key)).toEqual(['old', 'new', 'free', 'unknown']);
});

test('a table is cut at the width, and a page at the height', () => {
  const standing = { held: true, position: 0, units: 1, capacity: 5, token: 7n, label: 'here', remaining: 12_000 };
  const line: KeyQueueView = { key: 'x'.repeat(40), holders: [{ key: 'x', ...standing }], waiters: [] };
  for (const row of overview([line], 30)) expect(row.length).toBeLessThanOrEqual(30);
  // Each of these takes two columns of a terminal, where a row that is too wide would break in two.
  const [, wide] = overview([{ ...line, key: '订单'.repeat(10) }], 30);
  expect(wide).toBe(`${'订单'.repeat(7)}…`);
  const [head, row] = overview([{ ...line, key: '订单' }]);
  expect(head!.indexOf('HELD') - row!.indexOf('here'), 'columns stand below each other').toBe(2);
  expect(fitting(['1', '2', '3', '4'], 3)).toEqual(['1', '2', '… and 2 more']);
});

test.each([
  [0, '0.0s'],
  [1_500, '1.5s'],
  [59_999, '60s'],
  [61_000, '1m'],
  [3 * 3_600_000, '3h'],
  [Number.POSITIVE_INFINITY, 'session'],
])('%d ms is said as %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});
