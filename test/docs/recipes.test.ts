/** The whole files of the recipes, run as a reader would: in a folder that has installed the package. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Shell } from '../cli/shell.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { type Packed, packedPackage } from '../kit/packed.ts';
import { startPostgres } from '../kit/postgres.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { patternOf } from './tutorial.ts';
import { PAGES_WITH_FILES } from './whole-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const blocks = (page: string): { language: string; text: string }[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
/** The files that a page shows. The first line of each is its name. */
const filesOf = (page: string): [name: string, text: string][] =>
  blocks(page).flatMap(({ language, text }) => {
    const name = language === 'ts' ? /^\/\/ ([\w-]+\.ts)\n/.exec(text)?.[1] : undefined;
    return name === undefined ? [] : [[name, text]];
  });
/** A command, and what the page says that it prints. */
const runsOf = (page: string): { page: string; command: string; shows: string }[] => {
  const all = blocks(page);
  return all.flatMap(({ language, text }, i) => {
    const next = all[i + 1];
    return language === 'sh' && next?.language === 'text' ? [{ page, command: text, shows: next.text }] : [];
  });
};
/** It has the module that the others write to a database with. */
const HELPER = 'docs/recipes.md';
const runs = PAGES_WITH_FILES.flatMap(runsOf);
/** They serve until a signal ends them. */
const GO_ON = /\b(?:scheduled-job|service|team-page)\.ts/;

test('each whole file is started by a command of its page, or imported by one that is', () => {
  const unused = PAGES_WITH_FILES.flatMap((page) => {
    const files = filesOf(page);
    const uses = [...runsOf(page).map(({ command }) => command), ...files.map(([, text]) => text)].join('\n');
    return files
      .map(([name]) => name)
      .filter((name) => !new RegExp(`node ${name}|from '\\./${name}'`).test(uses))
      .map((name) => `${page}: ${name}`);
  });
  expect(unused).toEqual([]);
  expect(runs.length).toBeGreaterThan(14);
});

describeOn('postgres', 'the files of the recipes', () => {
  const folder = temporaryFolder();
  let server: Server;
  let installed = '';

  beforeAll(async () => {
    server = await startPostgres();
    const { tarball }: Packed = await packedPackage(folder.path);
    installed = join(folder.path, 'node_modules');
    mkdirSync(join(installed, 'holdfast'), { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', join(installed, 'holdfast'), '--strip-components=1']);
    for (const name of ['pg', 'express', 'fastify', 'hono', '@hono'])
      symlinkSync(join(root, 'node_modules', name), join(installed, name));
  }, 120_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** A folder with the files of a page, and the environment for them. */
  function placeOf(page: string, name: string): { cwd: string; env: NodeJS.ProcessEnv } {
    const cwd = join(folder.path, name);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }');
    for (const [file, text] of [...filesOf(HELPER), ...filesOf(page)]) writeFileSync(join(cwd, file), text);
    const { HOLDFAST_URL: _, ...rest } = process.env;
    const PATH = [dirname(process.execPath), rest.PATH].join(delimiter);
    const NODE_OPTIONS = '--disable-warning=ExperimentalWarning';
    return { cwd, env: { ...rest, PATH, NODE_OPTIONS, DATABASE_URL: server.url } };
  }

  test.for(runs)('$page: $command prints what the page shows', { timeout: 60_000 }, async (run) => {
    const { page, command, shows } = run;
    const { cwd, env } = placeOf(page, `run-${runs.indexOf(run)}`);
    const goesOn = GO_ON.test(command);
    await using shell = new Shell('bash', ['-c', goesOn ? `exec env ${command}` : command], { cwd, env });
    if (goesOn) {
      await shell.prints(patternOf(shows, 'goes on'), 30_000);
      shell.child.kill('SIGTERM');
    }
    const { code, stdout, stderr } = await shell.end(50_000);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(patternOf(shows, goesOn ? 'goes on' : 'ended'));
  });

  test.for([
    'express',
    'fastify',
    'hono',
  ])('on %s a repetition is answered as the first request was, also with a row, 70 kB, nothing, or what is too large', {
    timeout: 60_000,
  }, async (framework) => {
    const { cwd, env } = placeOf('docs/guides/memo.md', `answers-of-${framework}`);
    copyFileSync(join(root, 'test/docs/recipes/payments.ts'), join(cwd, 'payments.ts'));
    await using shell = new Shell('bash', ['-c', `node ${framework}.ts`], { cwd, env });
    const { code, stdout, stderr } = await shell.end(50_000);
    expect({ code, lines: stdout.trim().split('\n') }, stderr).toEqual({
      code: 0,
      lines: [
        'a row 201 twice true 1 run',
        expect.stringMatching(/^\{"id":"7","at":"a time","amount":"1.50","note":null,.*"list":\[1,2\],"text":"é "\}$/),
        '70 kB 201 twice true 1 run',
        framework === 'hono' ? 'nothing 500 twice false 2 runs' : 'nothing 201 twice true 1 run', // Hono sends no undefined
        'noise 201 500 false 1 run',
        expect.stringMatching(/^a bigint 500 \w+ false 2 runs$/),
      ],
    });
  });
});
