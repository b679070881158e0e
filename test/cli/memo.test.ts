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
      stderr: expect.stringContaining('it was asked for with another match'),
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
