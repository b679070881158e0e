import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Desk } from './shell.ts';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
});
afterAll(() => desk[Symbol.dispose]());

const sh = (script: string): string[] => ['--', 'sh', '-c', script];

describeOn('file', 'holdfast memo', () => {
  test('of five at once one runs the command, and all print its output', async () => {
    const runs = join(desk.folder, 'runs');
    const script = `echo ran >> ${runs}; sleep 0.3; echo "$HOLDFAST_KEY $HOLDFAST_TOKEN"`;
    const outcomes = await Promise.all(
      [1, 2, 3, 4, 5].map(() => desk.run('memo', 'five', '--keep', '1h', ...sh(script))),
    );
    expect(outcomes.map(({ code, stderr }) => `${code}${stderr}`)).toEqual(Array(5).fill('0'));
    expect(new Set(outcomes.map(({ stdout }) => stdout)).size, 'outputs').toBe(1);
    expect(outcomes[0]!.stdout).toMatch(/^five \d+\n$/);
    expect(readFileSync(runs, 'utf8')).toBe('ran\n');
  }, 60_000);

  test('bytes that are no text are kept as they are, and --forget runs the command again', async () => {
    const bytes = "printf '\\377\\000\\n'";
    const kept = ['memo', 'bytes', '--keep', '1h'];
    const one = await desk.run(...kept, ...sh(bytes));
    expect(await desk.run(...kept, ...sh('echo again'))).toEqual(one);
    expect(await desk.run(...kept, '--forget', ...sh('echo again'))).toMatchObject({ code: 0, stdout: 'again\n' });
  }, 60_000);

  test('a command that fails prints its output and keeps nothing; after --attempts the key rests', async () => {
    const fails = ['memo', 'fails', '--keep', '1h', '--attempts', '2', ...sh('echo tried; exit 3')];
    for (const _ of [1, 2]) expect(await desk.run(...fails)).toMatchObject({ code: 3, stdout: 'tried\n' });
    const rests = await desk.run(...fails);
    expect(rests).toMatchObject({ code: 75, stdout: '' });
    expect(rests.stderr).toMatch(/begun too often without a result/);
  }, 60_000);

  test('another --match, an output that is too long, and a --wait that is over are told by their exit codes', async () => {
    const one = ['memo', 'matched', '--keep', '1h', '--match', 'one'];
    expect((await desk.run(...one, ...sh('echo one'))).code).toBe(0);
    expect(await desk.run('memo', 'matched', '--keep', '1h', '--match', 'two', ...sh('echo two'))).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringContaining('which gave another `match`'),
    });
    const long = ['memo', 'long', '--keep', '1h', ...sh('head -c 70000 /dev/zero | tr "\\0" x')];
    const first = await desk.run(...long);
    expect([first.code, first.stdout.length]).toEqual([69, 70_000]);
    expect(first.stderr).toContain('its output is not kept under "long"');
    expect(await desk.run(...long)).toMatchObject({ code: 69, stdout: '' });
    await using holder = desk.start('memo', 'slow', '--keep', '1h', ...sh('echo ready >&2; read line; echo done'));
    await until('the command runs', () => holder.stderr.includes('ready'));
    expect((await desk.run('memo', 'slow', '--keep', '1h', '--wait', '0', ...sh('echo mine'))).code).toBe(75);
    holder.child.stdin.end('\n');
    expect(await holder.end()).toMatchObject({ code: 0, stdout: 'done\n' });
  }, 60_000);

  test('memos are listed with their states, but not what they keep, and forgotten from the command line', async () => {
    await desk.run('memo', 'list:kept', '--keep', '1h', ...sh('echo a secret'));
    await desk.run('memo', 'list:worn', '--keep', '1h', '--attempts', '1', ...sh('exit 3'));
    await using runner = desk.start('memo', 'list:runs', '--attempts', '9', ...sh('echo ready >&2; read line'));
    await until('the command runs', () => runner.stderr.includes('ready'));
    const listed = await desk.run('memo', '--list', 'list:');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout.split('\n').map((line) => line.split(/\s+/).slice(0, 2).join(' '))).toEqual([
      'KEY STATE',
      'list:kept kept',
      'list:runs running',
      'list:worn poisoned',
      '',
    ]);
    expect(listed.stdout).not.toContain('secret');
    const json = (await desk.run('memo', '--list', 'list:w', '--json')).stdout;
    expect(JSON.parse(json)).toMatchObject({ key: 'list:worn', memo: 'poisoned', token: expect.any(String) });
    expect(await desk.run('memo', 'forget', 'list:worn')).toEqual({
      code: 0,
      stdout: 'Forgot what was kept of "list:worn".\n',
      stderr: '',
    });
    expect(await desk.run('memo', 'list:worn', '--attempts', '1', ...sh('echo again'))).toMatchObject({ code: 0 });
    runner.child.stdin.end('\n');
    await runner.end();
    for (const key of ['list:kept', 'list:runs', 'list:worn']) await desk.run('memo', 'forget', key);
    const nothing = await desk.run('memo', 'forget', 'list:kept');
    expect(nothing).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing is kept of "list:kept" in') });
    expect(await desk.run('memo', '--list', 'list:')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('Nothing is kept of any memo whose key begins with "list:" in'),
    });
  }, 60_000);

  test('forget is a key like others before a command', async () => {
    expect(await desk.run('memo', 'forget', '--keep', '1h', ...sh('echo ran'))).toMatchObject({
      code: 0,
      stdout: 'ran\n',
    });
    expect(await desk.run('memo', 'forget', 'forget')).toMatchObject({ code: 0 });
    expect((await desk.run('memo', 'forget')).code, 'without a key or a command').toBe(64);
  }, 60_000);

  test('a runner that is killed leaves the key to the next one', async () => {
    const mark = join(desk.folder, 'began');
    await using dead = desk.start('memo', 'killed', '--keep', '1h', '--ttl', '2s', ...sh(`touch ${mark}; sleep 60`));
    await until('the command runs', () => existsSync(mark));
    dead.child.kill('SIGKILL');
    expect(await desk.run('memo', 'killed', '--keep', '1h', ...sh('echo next'))).toMatchObject({
      code: 0,
      stdout: 'next\n',
    });
  }, 60_000);
});
