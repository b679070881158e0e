/** The whole files of the recipes, run as a reader would: in a folder that has installed the package. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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

const root = fileURLToPath(new URL('../../', import.meta.url));
const folderOfPages = join(root, 'docs/recipes');
const pages = readdirSync(folderOfPages).filter((page) => page.endsWith('.md') && !page.endsWith('.zh-CN.md'));
const blocks = (page: string): { language: string; text: string }[] =>
  [...readFileSync(join(folderOfPages, page), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language, text]) => ({ language: language!, text: text! }),
  );
/** The files that a page shows. The first line of each is its name. */
const filesOf = (page: string): [name: string, text: string][] =>
  blocks(page).flatMap(({ language, text }) => {
    const name = language === 'ts' ? /^\/\/ ([\w-]+\.ts)\n/.exec(text)?.[1] : undefined;
    return name === undefined ? [] : [[name, text]];
  });
/** A command, and what the page says that it prints. */
const runsOf = (page: string): [command: string, shows: string][] => {
  const all = blocks(page);
  return all.flatMap(({ language, text }, i) => {
    const next = all[i + 1];
    return language === 'sh' && next?.language === 'text' ? [[text, next.text]] : [];
  });
};
const runnable = pages.filter((page) => runsOf(page).length > 0);
/** They serve until a signal ends them. */
const GO_ON: readonly string[] = ['scheduled-job.md', 'start-order.md', 'team-page.md'];
/** They have no whole file, and why. */
const WITHOUT: readonly string[] = [
  'README.md', // the table of the others, and their helper
  'prom-client.md', // its block is the module; test/otel/board.test.ts runs it
];

test('each recipe has a whole file, and what it prints', () => {
  expect(pages.filter((page) => !runnable.includes(page)).sort()).toEqual(
    pages.filter((page) => WITHOUT.includes(page)).sort(),
  );
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
    for (const [file, text] of [...filesOf('README.md'), ...filesOf(page)]) writeFileSync(join(cwd, file), text);
    const { HOLDFAST_URL: _, ...rest } = process.env;
    const PATH = [dirname(process.execPath), rest.PATH].join(delimiter);
    const NODE_OPTIONS = '--disable-warning=ExperimentalWarning';
    return { cwd, env: { ...rest, PATH, NODE_OPTIONS, DATABASE_URL: server.url } };
  }

  test.for(runnable)('%s prints what the page shows', { timeout: 60_000 }, async (page) => {
    const { cwd, env } = placeOf(page, page.replace('.md', ''));
    for (const [command, shows] of runsOf(page)) {
      const goesOn = GO_ON.includes(page);
      await using shell = new Shell('bash', ['-c', goesOn ? `exec env ${command}` : command], { cwd, env });
      if (goesOn) {
        await shell.prints(patternOf(shows, 'goes on'), 30_000);
        shell.child.kill('SIGTERM');
      }
      const { code, stdout, stderr } = await shell.end(50_000);
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(patternOf(shows, goesOn ? 'goes on' : 'ended'));
    }
  });

  test.for([
    'express',
    'fastify',
    'hono',
  ])('on %s a repetition is answered as the first request was, also with a row, 70 kB, no body, or what cannot be kept', {
    timeout: 60_000,
  }, async (framework) => {
    const { cwd, env } = placeOf('idempotency-key.md', `answers-of-${framework}`);
    copyFileSync(join(root, 'test/docs/recipes/payments.ts'), join(cwd, 'payments.ts'));
    await using shell = new Shell('bash', ['-c', `node ${framework}.ts`], { cwd, env });
    const { code, stdout, stderr } = await shell.end(50_000);
    expect({ code, lines: stdout.trim().split('\n') }, stderr).toEqual({
      code: 0,
      lines: [
        'a row 201 twice true 1 run',
        expect.stringMatching(/^\{"id":"7","at":"a time","amount":"1.50","note":null,.*"list":\[1,2\],"text":"é "\}$/),
        '70 kB 201 twice true 1 run',
        'nothing 201 twice true 1 run',
        'noise 500 twice false 1 run',
        'a bigint 500 twice false 1 run',
        'no body 400 400',
      ],
    });
  });
});
