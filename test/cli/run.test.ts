import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { supervise } from '../../products/cli/child/supervise.ts';
import { timing } from '../../products/cli/child/timing.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { startZookeeper } from '../kit/zookeeper.ts';
import { Desk, hasTerminal, MAIN, Shell } from './shell.ts';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
});
afterAll(() => desk[Symbol.dispose]());

/** Prints `ready`, then waits for a line. */
const HOLD = ['sh', '-c', 'echo ready; read line'] as const;

describeOn('file', 'holdfast run', () => {
  test('two ask, one runs; the other runs after it', async () => {
    await using first = desk.start('run', 'two', '--', ...HOLD);
    await first.prints('ready');
    await using second = desk.start('run', 'two', '--wait', 'forever', '--', ...HOLD);
    const third = await desk.run('run', 'two', '--wait', '0', '--', 'echo', 'third');
    expect(third).toMatchObject({ code: 75, stdout: '' });
    expect(third.stderr).toMatch(/^holdfast: .*"two".*\n$/);
    expect(second.stdout).toBe('');
    first.child.stdin.end('\n');
    await second.prints('ready');
    second.child.stdin.end('\n');
    expect([(await first.end()).code, (await second.end()).code]).toEqual([0, 0]);
  });

  test('the command has the key, a token that grows, and its own exit code', async () => {
    const tell = ['--', 'sh', '-c', 'echo "$HOLDFAST_KEY $HOLDFAST_TOKEN"; exit 7'];
    const [one, two] = [await desk.run('run', 'a key', ...tell), await desk.run('run', 'a key', ...tell)];
    expect(one).toMatchObject({ code: 7, stderr: '' });
    expect(one.stdout).toMatch(/^a key \d+\n$/);
    expect(Number(two.stdout.slice(6))).toBeGreaterThan(Number(one.stdout.slice(6)));
  });

  test('the command does not learn an address that came by flag', async () => {
    const url = `file:${join(desk.folder, 'canary.db')}`;
    const { stdout } = await desk.run('run', 'env', '--url', url, '--', 'env');
    expect(stdout).toContain('HOLDFAST_KEY=env');
    expect(stdout).not.toContain('canary');
  });

  test.each([
    ['a signal that ends the command', ['--', 'sh', '-c', 'kill -KILL $$'], 137],
    ['a command that is not there', ['--', './not-here'], 127],
    ['a file that is no command', ['--', '/etc/passwd'], 126],
    ['no command', [], 64],
    ['an unknown option', ['--wiat', '5s', '--', 'true'], 64],
    ['a wait that is no time', ['--wait', 'soon', '--', 'true'], 64],
    ['a grace of more than two thirds of the ttl', ['--ttl', '3s', '--grace', '2100ms', '--', 'true'], 64],
    ['permits that are no number', ['--permits', 'many', '--', 'true'], 64],
    ['an engine that nobody has', ['--url', 'carrier-pigeon://h', '--', 'true'], 64],
    ['an engine that does not answer', ['--url', 'etcd://127.0.0.1:1', '--wait', '0', '--', 'true'], 69],
  ])('%s: the exit code says so', async (_title, args, code) => {
    const outcome = await desk.run('run', 'codes', ...args);
    expect(outcome).toMatchObject({ code, stdout: '' });
    if (code !== 137) expect(outcome.stderr).toMatch(/^holdfast: [^\n]+\n$/);
  });

  test('readers share, a writer waits; permits are counted', async () => {
    await using reader = desk.start('run', 'shared', '--shared', '--', ...HOLD);
    await reader.prints('ready');
    expect(await desk.run('run', 'shared', '--shared', '--wait', '0', '--', 'true')).toMatchObject({ code: 0 });
    expect(await desk.run('run', 'shared', '--wait', '0', '--', 'true')).toMatchObject({ code: 75 });
    const three = ['run', 'counted', '--permits', '2', '--wait', '0', '--'];
    await using one = desk.start(...three, ...HOLD);
    await using two = desk.start(...three, ...HOLD);
    await Promise.all([one.prints('ready'), two.prints('ready')]);
    expect(await desk.run(...three, 'true')).toMatchObject({ code: 75 });
    for (const { child } of [reader, one, two]) child.stdin.end('\n');
  });

  test('--min-hold keeps the key after a command that was quick', async () => {
    expect(await desk.run('run', 'nightly', '--min-hold', '20s', '--', 'true')).toMatchObject({ code: 0 });
    expect(await desk.run('run', 'nightly', '--wait', '0', '--', 'true')).toMatchObject({ code: 75 });
  });

  test('--delay keeps the key from others after a hold that expired', async () => {
    const hold = ['run', 'delayed', '--ttl', '1s', '--delay', '20s', '--'];
    await using holder = desk.start(...hold, ...HOLD);
    await holder.prints('ready');
    holder.child.kill('SIGKILL');
    expect(await desk.run('run', 'delayed', '--wait', '3s', '--', 'true')).toMatchObject({ code: 75 });
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const)('passes %s on to the command', async (name) => {
    const script = `trap 'echo heard; exit 9' ${name.slice(3)}; echo ready; while :; do sleep 0.05; done`;
    await using shell = desk.start('run', `signal ${name}`, '--', 'sh', '-c', script);
    await shell.prints('ready');
    shell.child.kill(name);
    expect(await shell.end()).toMatchObject({ code: 9, stdout: 'ready\nheard\n' });
  });

  test('a signal ends the waiting, and leaves no place behind', async () => {
    await using holder = desk.start('run', 'interrupted', '--', ...HOLD);
    await holder.prints('ready');
    await using waiter = desk.start('run', 'interrupted', '--', 'echo', 'ran');
    const waits = async (): Promise<boolean> => (await lines(desk, 'interrupted')) === 2;
    await until('it waits', waits);
    waiter.child.kill('SIGINT');
    expect(await waiter.end()).toMatchObject({ code: 130, stdout: '' });
    expect(await lines(desk, 'interrupted')).toBe(1);
    holder.child.stdin.end('\n');
  });

  test('kill −9 of holdfast ends the command and what it started', async () => {
    await using shell = desk.start('run', 'killed', '--', 'sh', '-c', beating('killed'));
    await shell.prints('ready');
    shell.child.kill('SIGKILL');
    await until('the command is gone', async () => still('killed'));
  });
});

/** How many stand in the line of a key. */
async function lines(at: Desk, key: string): Promise<number> {
  const { stdout } = await at.run('show', key, '--json');
  return stdout.trim() === '' ? 0 : stdout.trim().split('\n').length;
}

/** A command that ignores SIGTERM and starts another that does; that one says every 50 ms that it lives. */
const beating = (name: string): string =>
  `trap '' TERM; (while :; do date +%s%N >> ${join(desk.folder, name)}; sleep 0.05; done) & sleep 0.2; echo ready; wait`;

/** ms since the epoch of its last word. */
const lastBeat = (name: string): number =>
  Number(readFileSync(join(desk.folder, name), 'utf8').trim().split('\n').at(-1)) / 1e6;

/** Whether it has been silent for long enough to be dead. */
const still = (name: string): boolean => Date.now() - lastBeat(name) > 1_000;

describeOn('redis', 'holdfast run that loses its lock', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const ttl = 3_000;
  const start = (key: string, ...more: string[]): Shell =>
    desk.start('run', key, '--url', server.url, '--ttl', `${ttl}ms`, ...more, '--', 'sh', '-c', beating(key));

  test.each([
    ['is stopped', 'stopped', async () => server.pause()],
    ['is killed', 'died', () => server.kill()],
  ])('because the server %s: all it started is ended before anyone else can have it', async (_title, key, fail) => {
    await using shell = start(key, '--grace', '500ms');
    await shell.prints('ready');
    const failed = Date.now();
    await fail();
    const { code, stderr } = await shell.end(20_000);
    expect(code).toBe(137);
    expect(stderr).toMatch(/^holdfast: .*is lost/m);
    await until('it is silent', () => still(key));
    // No renewal was answered after the failure, so the lease ends at most its ttl after it.
    expect(lastBeat(key)).toBeLessThan(failed + ttl);
    expect(lastBeat(key)).toBeGreaterThan(failed);
    server.resume();
    await server.restart();
  });

  test('by force: it is ended at once, without a grace that would be somebody else’s time, and says why', async () => {
    await using shell = start('forced', '--grace', '2s');
    await shell.prints('ready');
    const forced = await desk.run('release', '--force', 'forced', '--yes', '--reason', 'a test', '--url', server.url);
    expect(forced).toMatchObject({ code: 0 });
    const { code, stderr } = await shell.end();
    expect(code).toBe(137);
    expect(stderr).toMatch(/is lost: it was released by force: "a test" \(by .+:\d+\)\. Stop writing/);
  });

  test('in its sleep: it is ended as soon as holdfast goes on', async () => {
    await using shell = start('asleep', '--grace', '2s');
    await shell.prints('ready');
    shell.child.kill('SIGSTOP');
    try {
      const expired = ['run', 'asleep', '--url', server.url, '--wait', '15s', '--', 'true'];
      expect(await desk.run(...expired)).toMatchObject({ code: 0 });
      expect(shell.child.exitCode).toBeNull();
    } finally {
      shell.child.kill('SIGCONT');
    }
    const { code, stderr } = await shell.end();
    expect(code).toBe(137);
    expect(stderr).toMatch(/is lost/);
  });

  test('a command that heeds SIGTERM has the grace to end by itself', async () => {
    const script = `trap 'sleep 0.2; echo tidied; exit 3' TERM; echo ready; while :; do sleep 0.05; done`;
    await using shell = desk.start(
      ...['run', 'heeds', '--url', server.url, '--ttl', `${ttl}ms`, '--grace', '1s', '--', 'sh', '-c', script],
    );
    await shell.prints('ready');
    server.pause();
    try {
      expect(await shell.end(20_000)).toMatchObject({ code: 3, stdout: 'ready\ntidied\n' });
    } finally {
      server.resume();
    }
  });
});

describeOn('zookeeper', 'holdfast run on an engine that keeps a key only as long as the process lives', () => {
  test('a signal ends the rest of --min-hold, and frees the key', async () => {
    await using server = await startZookeeper();
    const run = ['run', 'nightly', '--url', server.url, '--wait', '0'];
    await using shell = desk.start(...run, '--min-hold', '1h', '--', 'echo', 'done');
    await shell.prints('done');
    expect(await desk.run(...run, '--', 'true')).toMatchObject({ code: 75 });
    shell.child.kill('SIGTERM');
    expect(await shell.end()).toMatchObject({ code: 0 });
    expect(await desk.run(...run, '--', 'true')).toMatchObject({ code: 0 });
  });
});

describe.runIf(hasTerminal)('holdfast run in a terminal', () => {
  test('the command reads what is typed, also from /dev/tty, and the shell has the terminal back after it', async () => {
    const asks = 'printf name?; read name; printf password?; read word </dev/tty; echo "$name $word"; exit 5';
    await using shell = desk.terminal(['run', 'ask', '--', 'sh', '-c', asks]);
    await shell.prints('name?');
    shell.child.stdin.write('ann\n');
    await shell.prints('password?');
    shell.child.stdin.write('secret\n');
    expect((await shell.end()).code).toBe(5);
    expect(shell.stdout).toContain('ann secret');
  });

  test.each([
    ['one that heeds it', `trap 'echo heard; exit 9' INT; echo ready; while :; do sleep 0.05; done`, 9],
    // Not `echo ready; sleep 30`: dash forgets a signal that comes while it turns into its last command.
    [
      'one that does not care',
      `exec '${process.execPath}' -e 'setTimeout(() => {}, 30_000); console.log("ready")'`,
      130,
    ],
  ])('^C goes to the command: %s', async (_title, script, code) => {
    await using shell = desk.terminal(['run', 'interrupt', '--', 'sh', '-c', script]);
    await shell.prints('ready');
    shell.child.stdin.write('\x03');
    expect((await shell.end()).code).toBe(code);
  });

  test('^Z does not stop who holds a lock', async () => {
    await using shell = desk.terminal(['run', 'stop', '--', 'sh', '-c', 'echo ready; read x; echo "read $x"']);
    await shell.prints('ready');
    shell.child.stdin.write('\x1a');
    shell.child.stdin.write('on\n');
    await shell.prints('read on');
    expect((await shell.end()).code).toBe(0);
  });

  test('^Z does not stop it in a pipeline either, where its command would run on without it', async () => {
    const script = join(desk.folder, 'pipeline');
    const run = [process.execPath, MAIN, 'run', 'piped', '--ttl', '600ms', '--', 'sh', '-c', 'echo ready; sleep 30'];
    writeFileSync(script, `${run.map((word) => `'${word}'`).join(' ')} | cat\nsleep 30\n`);
    // With job control, as a user's own shell: a group that nobody could continue is never stopped.
    const env = { ...desk.env, SHELL: '/bin/sh' };
    await using shell = new Shell('script', ['-qefc', `sh -m ${script}`, '/dev/null'], { env });
    await shell.prints('ready');
    shell.child.stdin.write('\x1a');
    expect(await desk.run('run', 'piped', '--wait', '2s', '--', 'true')).toMatchObject({ code: 75 });
  });

  test('a script that runs it has the terminal back', async () => {
    const file = join(desk.folder, 'script');
    writeFileSync(file, 'printf again?; read x; echo "again $x"\n');
    const both = `"$0" "$@"; . ${file}`;
    await using shell = desk.terminal(['run', 'outer', '--', 'sh', '-c', both, 'sh', '-c', 'true']);
    await shell.prints('again?');
    shell.child.stdin.write('yes\n');
    await shell.prints('again yes');
    await shell.end();
  });
});

test.each([
  ['30s', undefined, { ttl: 30_000, grace: 5_000, notice: 5_250 }],
  ['3s', undefined, { ttl: 3_000, grace: 1_000, notice: 1_150 }],
  ['3000', '2s', { ttl: 3_000, grace: 2_000, notice: 2_000 }],
])('ttl %s and grace %s: notice comes in time for both', (ttl, grace, expected) => {
  expect(timing(ttl, grace)).toMatchObject(expected);
});

test.each([
  ['its deadline passed while this process stood still', { held: false, remaining: 0 }, undefined],
  ['its loss was told', { held: true, remaining: 3_000 }, new Error('lost')],
])('a command never begins if the lease was lost before: %s', async (_title, state, loss) => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'ran');
  const lost = new AbortController();
  if (loss) lost.abort(loss);
  const words = ['sh', '-c', `trap '' TERM; echo ran > '${path}'`];
  const code = await supervise({ signal: lost.signal, ...state }, words, {}, timing('9s', '1s'));
  expect({ ran: existsSync(path), code }, 'the command began without the lock').toEqual({ ran: false, code: 69 });
});
