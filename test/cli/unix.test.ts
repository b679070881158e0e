import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Desk, hasTerminal, Shell } from './shell.ts';

/** What the package puts on the PATH. */
const HOLDFAST = fileURLToPath(new URL('../../products/cli/holdfast', import.meta.url));
const onLinux = process.platform === 'linux';

let desk: Desk;
let env: NodeJS.ProcessEnv;
beforeAll(() => {
  desk = new Desk();
  env = { ...desk.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOLDFAST };
});
afterAll(() => desk[Symbol.dispose]());

/** A line of bash, where `$HOLDFAST` is the command line. */
const bash = (line: string): Shell => new Shell('bash', ['-c', line], { env, cwd: desk.folder });

describeOn('file', 'what a command inherits is the same as without holdfast', () => {
  test.runIf(onLinux).each([
    ['ignored signals, as of nohup and of a background job', `trap '' HUP INT QUIT`, 'grep SigIgn /proc/self/status'],
    ['no ignored signals', ':', 'grep SigIgn /proc/self/status'],
    ['the number of files that may be open', 'ulimit -S -n 777', `sh -c 'ulimit -S -n'`],
    ['descriptors from 3 on', `exec 3<<<three 7<<<seven 12<<<twelve`, `bash -c 'cat <&3 <&7; cat <&3; cat <&12'`],
    ['no descriptors but those', ':', `bash -c 'ls /proc/$$/fd'`],
    [
      'an environment with names that no shell has',
      ':',
      `env 'a.b=1' $'2=two\\nlines' $RUN env | grep -e '^a.b=' -e '^2=two' -e '^lines' | sort`,
    ],
  ])('%s', async (_title, setup, command) => {
    const line = command.includes('$RUN') ? command : `$RUN ${command}`;
    const without = await bash(`${setup}; RUN=; ${line}`).end();
    const within = await bash(`${setup}; RUN="$HOLDFAST run inherit --"; ${line}`).end();
    expect(without).toMatchObject({ code: 0, stderr: '' });
    expect(within).toEqual(without);
  });

  test.runIf(onLinux)('<(…) can be read by the command', async () => {
    expect(await bash(`"$HOLDFAST" run substitution -- cat <(echo from a pipe)`).end()).toMatchObject({
      code: 0,
      stdout: 'from a pipe\n',
    });
  });

  test.runIf(onLinux)('a logout ends neither holdfast nor the command where SIGHUP is ignored', async () => {
    await using shell = bash(`trap '' HUP; exec "$HOLDFAST" run nohup -- sh -c 'echo ready; read line; echo on'`);
    await shell.prints('ready');
    shell.child.kill('SIGHUP');
    shell.child.stdin.end('\n');
    expect(await shell.end()).toMatchObject({ code: 0, stdout: 'ready\non\n' });
  });

  test.runIf(onLinux)('nor while it waits for the lock', async () => {
    await using holder = bash(`exec "$HOLDFAST" run logout -- sh -c 'echo ready; read line'`);
    await holder.prints('ready');
    await using waiter = bash(`trap '' HUP INT; exec "$HOLDFAST" run logout -- echo ran`);
    await until('it waits', async () => (await desk.run('show', 'logout', '--json')).stdout.split('\n').length === 3);
    waiter.child.kill('SIGHUP');
    waiter.child.kill('SIGINT');
    holder.child.stdin.end('\n');
    expect(await waiter.end()).toMatchObject({ code: 0, stdout: 'ran\n' });
  });
});

describeOn('file', 'the end of a command', () => {
  test.runIf(onLinux)('killed as soon as it has a child, holdfast leaves nothing that runs', async () => {
    for (let round = 0; round < 4; round++) {
      const mark = `killed-${process.pid}-${round}`;
      await using shell = desk.start('run', mark, '--', 'sleep', '300');
      await until('it has a child', () => childrenOf(shell.child.pid!) !== '');
      shell.child.kill('SIGKILL');
      await until('nothing of it is left', () => running(mark).length === 0).catch((error) => {
        for (const pid of running(mark)) process.kill(pid, 'SIGKILL');
        throw error;
      });
    }
  });

  test('the lock is kept while something that the command started still runs in its group', async () => {
    const flag = join(desk.folder, 'leftover');
    writeFileSync(flag, '');
    const leaves = `(while [ -e '${flag}' ]; do sleep 0.02; done) >/dev/null 2>&1 & echo ended`;
    await using first = desk.start('run', 'leftover', '--', 'sh', '-c', leaves);
    await first.prints('ended');
    await until('it says why', () => first.stderr.includes('still run'));
    expect(await desk.run('run', 'leftover', '--wait', '0', '--', 'true')).toMatchObject({ code: 75 });
    rmSync(flag);
    expect(await first.end()).toMatchObject({ code: 0 });
    expect(await desk.run('run', 'leftover', '--wait', '0', '--', 'true')).toMatchObject({ code: 0 });
  });

  test('with --leave-running it is given back when the command itself has ended', async () => {
    const flag = join(desk.folder, 'left');
    writeFileSync(flag, '');
    try {
      const leaves = `(while [ -e '${flag}' ]; do sleep 0.02; done) >/dev/null 2>&1 & echo ended`;
      const first = await desk.run('run', 'left', '--leave-running', '--', 'sh', '-c', leaves);
      expect(first).toMatchObject({ code: 0, stdout: 'ended\n', stderr: '' });
      expect(await desk.run('run', 'left', '--wait', '0', '--', 'true')).toMatchObject({ code: 0 });
    } finally {
      rmSync(flag);
    }
  });

  test('a command that is not there is told before anybody waits for it', async () => {
    await using holder = desk.start('run', 'missing', '--', 'sh', '-c', 'echo ready; read line');
    await holder.prints('ready');
    expect(await desk.run('run', 'missing', '--', 'no-such-command')).toMatchObject({ code: 127 });
    holder.child.stdin.end('\n');
  });
});

/** Process ids of those who have the key in their environment: the commands, and what they started. */
function running(key: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => textOf(`/proc/${pid}/environ`).includes(`HOLDFAST_KEY=${key}\0`))
    .map(Number);
}

const childrenOf = (pid: number): string => textOf(`/proc/${pid}/task/${pid}/children`);

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describeOn('redis', 'a lost lock never ends in exit code 0', () => {
  const ttl = ['--ttl', '1500ms', '--grace', '700ms'];

  test('when the command ends well as it is asked to', async () => {
    await using server = await startRedis();
    const script = `trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done`;
    await using shell = desk.start('run', 'heeds', '--url', server.url, ...ttl, '--', 'sh', '-c', script);
    await shell.prints('ready');
    server.pause();
    try {
      expect(await shell.end()).toMatchObject({ code: 69, stderr: expect.stringContaining('is lost') });
    } finally {
      server.resume();
    }
  });

  test('when the lock was taken away, and the command ended well before that was noticed', async () => {
    await using server = await startRedis();
    await using shell = desk.start('run', 'robbed', '--url', server.url, '--', 'sh', '-c', 'echo ready; read line');
    await shell.prints('ready');
    const release = ['release', '--force', 'robbed', '--yes', '--reason', 'a test', '--url', server.url];
    expect(await desk.run(...release)).toMatchObject({ code: 0 });
    shell.child.stdin.end('\n');
    expect((await shell.end()).code).not.toBe(0);
  });
});

describe('an address that makes no lock', () => {
  test('memory: is refused, since it would lock nobody out', async () => {
    const outcome = await desk.run('run', 'k', '--url', 'memory:', '--', 'echo', 'ran');
    expect(outcome).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('one process') });
  });

  test('a file in a folder that does not exist is an error, and no new folder', async () => {
    const url = `file:${join(desk.folder, 'typo', 'locks.db')}`;
    const outcome = await desk.run('run', 'k', '--url', url, '--', 'echo', 'ran');
    expect(outcome).toMatchObject({ code: 69, stdout: '', stderr: expect.stringMatching(/typo.* does not exist/) });
    expect(readdirSync(desk.folder)).not.toContain('typo');
  });
});

describe.runIf(hasTerminal)('holdfast run in the background of a terminal', () => {
  test('leaves what is typed to those in the foreground', async () => {
    const script = join(desk.folder, 'background');
    writeFileSync(
      script,
      `"$HOLDFAST" run background -- sh -c 'read x; echo "stolen <$x>"' &\nwait\nprintf ready; read y; echo "mine <$y>"\n`,
    );
    await using shell = new Shell('script', ['-qefc', `bash -m ${script}`, '/dev/null'], {
      env: { ...env, SHELL: '/bin/sh' },
      cwd: desk.folder,
    });
    await shell.prints('ready');
    shell.child.stdin.write('typed\n');
    await shell.prints('mine <typed>');
    expect(shell.stdout).toContain('stolen <>');
  });
});
