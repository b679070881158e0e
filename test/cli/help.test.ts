import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../products/cli/commands/index.ts';
import { FLAGS, messageOf } from '../../products/cli/exit.ts';
import { inWords } from '../../src/core/contract/duration.ts';
import { DEFAULT_TTL_MS, sharedWith } from '../../src/core/contract/option-table.ts';
import { find } from '../kit/programs.ts';
import { Desk, hasTerminal, MAIN, Shell } from './shell.ts';

let desk: Desk;
beforeAll(() => {
  desk = new Desk();
});
afterAll(() => desk[Symbol.dispose]());

test('help lists every command, and each teaches by example and tells of every option', async () => {
  const { code, stdout } = await desk.run();
  expect(code).toBe(0);
  for (const { name, summary, options, help } of COMMANDS) {
    expect(stdout).toContain(summary);
    expect(help).toContain(`  holdfast ${name}`);
    for (const option of Object.keys(options)) expect(help).toContain(`--${option}`);
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  }
});

test('run has a flag for each option of a lock that the table gives it, and the default lease is told', () => {
  const { options, help } = COMMANDS.find(({ name }) => name === 'run')!;
  for (const name of Object.keys(sharedWith('run'))) {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect(options).toHaveProperty([flag], { type: 'string' });
    expect(help).toMatch(new RegExp(`^  --${flag} <time> +[a-z]`, 'm'));
  }
  for (const { name, help } of COMMANDS)
    if (['run', 'lead', 'once'].includes(name))
      expect(help, name).toContain(`(default ${inWords(DEFAULT_TTL_MS).replace(' ', '')})`);
});

test.each([
  [['help', 'run'], /^Run a command/],
  [['run', '--help'], /^Run a command/],
  [['run', 'key', '-h', '--', 'true'], /^Run a command/],
  [['--version'], /^holdfast \d+\.\d+\.\d+/],
  [['setup', '--print', '--url', 'postgres://nowhere/app?schema=locks'], /CREATE SCHEMA "locks"/],
])('%j exits with 0', async (args, text) => {
  expect(await desk.run(...args)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(text) });
});

test('what the library says in options, an error says in flags', () => {
  const flags = new Set(COMMANDS.flatMap(({ options }) => Object.keys(options)));
  for (const name of FLAGS) expect(flags).toContain(name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
  const said = (message: string): string => messageOf(new Error(message));
  expect(said("To wait longer, give wait: '5m' or wait: 'forever'")).toBe(
    'To wait longer, give --wait 5m or --wait forever',
  );
  expect(said('minHold is -1; --ttl is 1')).toBe('--min-hold is -1; --ttl is 1');
  expect(said('give permits: 3, or retry: true')).toBe('give --permits 3, or --retry');
  expect(said('find out why, and forget() it')).toBe('find out why, and forget it: holdfast memo forget <key>');
  expect(said('ask with reentrant: false; run.ttl is 1')).toBe('ask with reentrant: false; run.ttl is 1');
});

test('--help behind the -- is for the command', async () => {
  expect(await desk.run('run', 'key', '--', 'sh', '-c', 'echo "$0"', '--help')).toMatchObject({
    code: 0,
    stdout: '--help\n',
  });
});

test.each([
  [['luck'], /no command "luck"\. See/],
  [['realese'], /no command "realese"; did you mean release\? See/],
  [['dead'], /did you mean deadlocks\?/],
  [['setup', '--print', '--url', 'file:./locks.db'], /only PostgreSQL has SQL to print/],
  [['ls', '--url', 'localhost:6379'], /did you mean redis:\/\/localhost:6379\?/],
  [['ls', '--url', '127.0.0.1:2379'], /did you mean etcd:\/\/127\.0\.0\.1:2379\?/],
  [['ls', '--url', 'my-db:5432'], /did you mean postgres:\/\/my-db:5432\?/],
  [['ls', '--url', './locks.db'], /did you mean file:\.\/locks\.db\?/],
  [['ls', '--url', 'redsi://x:canary@h'], /did you mean redis:\?/],
  [['help', 'luck'], /no command "luck"/],
  [['show'], /<key> is missing/],
  [['ls', 'a', 'b'], /"b" is an argument too many/],
  [['ls', '--wait'], /Unknown option '--wait'/],
  [['completion', 'tcsh'], /no completion for "tcsh", only for bash, zsh, fish/],
  [['watch', '--every', '1ms'], /--every is "1ms"; it must be from 100 ms to 1 h\./],
  [['run', 'key'], /the command is missing.*: holdfast run <key> -- <command>/],
  [['run', 'key', '--'], /the command is missing/],
  [['run', 'key', 'ls', '-l'], /the command is missing; write it after --/],
  [['run', 'key', '--wait', '-1', '--', 'true'], /'--wait' argument is ambiguous\. See/],
  [['run', 'key', '--ttl', '1ms', '--', 'true'], /holdfast: --ttl is 1; it must be from 10 ms to 1 year\./],
  [['run', 'key', '--wait', '5', '--', 'true'], /--wait is 5; write 5s for seconds, or 5ms for milliseconds/],
  [['run', 'key', '--ttl', '999', '--', 'true'], /--ttl is 999; write 999s for seconds, or 999ms/],
  [['watch', '--every', '200'], /--every is 200; write 200s/],
  [['run', 'key', '--permits', 'few', '--', 'true'], /--permits is "few", not a number/],
])('%j is wrong usage: one line that says where to read on', async (args, text) => {
  const { code, stdout, stderr } = await desk.run(...args);
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toMatch(text);
  expect(stderr).toMatch(/^holdfast: [^\n]*See: holdfast [^\n]*--help\n$/);
});

test('a Node that is too old is told which one is needed, and nothing is loaded that it could stumble over', async () => {
  const main = readFileSync(MAIN, 'utf8');
  expect([...main.matchAll(/^import .* from '(.*)'/gm)].map(([, from]) => from)).toEqual(['node:fs']);
  const as = (version: string) => `data:text/javascript,
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const by = (version: string) => new Desk({ ...desk.env, NODE_OPTIONS: `--import="${encodeURI(as(version))}"` });
  using old = by('22.9.0');
  expect(await old.run('ls')).toMatchObject({ code: 69, stdout: '', stderr: expect.stringMatching(/22\.13 or newer/) });
  using oldest = by('22.13.0');
  expect(await oldest.run('ls')).toMatchObject({ code: 0 });
});

test('output that nobody reads ends it in silence; output that cannot be written is told', async () => {
  const holdfast = `'${process.execPath}' '${MAIN}' --help`;
  const { env, folder: cwd } = desk;
  await using unread = new Shell('sh', ['-c', `{ sleep 1; ${holdfast}; echo $? >&2; } | true`], { env, cwd });
  expect(await unread.end()).toMatchObject({ stderr: '141\n' });
  await using full = new Shell('sh', ['-c', `${holdfast} >/dev/full`], { env, cwd });
  expect(await full.end()).toMatchObject({ code: 74, stderr: expect.stringMatching(/could not be written: .*ENOSPC/) });
});

test.runIf(hasTerminal)('colour is for terminals', async () => {
  // Node takes a machine of CI's for one without colours.
  using plain = new Desk({ ...desk.env, NO_COLOR: undefined, CI: undefined, TERM: 'xterm-256color' });
  expect((await plain.run('luck')).stderr).not.toContain('\u001b');
  await using shell = plain.terminal(['luck']);
  expect((await shell.end()).stdout).toContain('\u001b[31mholdfast:');
});

test('the default engine is a file in the folder for the state of programs', async () => {
  await desk.run('run', 'key', '--', 'true');
  expect((await desk.run('ls', '--url', `file:${join(desk.folder, 'holdfast', 'locks.db')}`)).code).toBe(0);
});

test('a password is in no output', async () => {
  using other = new Desk({ HOLDFAST_URL: 'redis://nobody:canary@127.0.0.1:1' });
  for (const args of [['ls'], ['check'], ['run', '--wait', '0', 'key', '--', 'true'], ['watch', '--json']]) {
    const { code, stdout, stderr } = await other.run(...args);
    expect(code).toBe(69);
    expect(stdout + stderr).not.toContain('canary');
  }
});

describe.each([
  ['bash', ['-n']],
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
])('completion for %s', (shell, args) => {
  test.runIf(find(shell))('is a script that it can read', async () => {
    const { stdout } = await desk.run('completion', shell);
    const file = join(desk.folder, shell);
    writeFileSync(file, stdout);
    execFileSync(shell, [...args, file]);
    for (const { name } of COMMANDS) expect(stdout).toContain(name);
  });
});

test.runIf(find('bash'))('bash completes commands and options, and leaves what follows -- alone', async () => {
  const { stdout } = await desk.run('completion', 'bash');
  const complete = (...words: string[]): string[] => {
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _holdfast; echo "\${COMPREPLY[*]}"`;
    return execFileSync('bash', ['-c', `${stdout}\n${ask}`], { encoding: 'utf8' })
      .trim()
      .split(' ');
  };
  expect(complete('holdfast', 'r')).toEqual(['run', 'release']);
  expect(complete('holdfast', 'run', 'key', '--w')).toEqual(['--wait']);
  expect(complete('holdfast', 'run', 'key', '--', '--w')).toEqual(['']);
});
