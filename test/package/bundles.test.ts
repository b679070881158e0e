import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { found } from '../docs/block.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { freePort, HOST } from '../kit/net.ts';
import { packedPackage } from '../kit/packed.ts';
import { type Project, projectOf } from '../kit/project.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { commonJs } from './uses.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('../bundlers', import.meta.url));
const packages = fileURLToPath(new URL('../../node_modules/', import.meta.url));
/** The peers that modules of the package import; who bundles a server leaves them out. */
const PEERS = ['@opentelemetry/api', '@nestjs/common', '@nestjs/core', '@nestjs/schedule'];

const BUNDLES = [
  ['esbuild', 'cjs'],
  ['esbuild', 'esm'],
  ['rollup', 'cjs'],
  ['rollup', 'esm'],
  ['webpack', 'cjs'],
  ['webpack', 'esm'],
  ['ncc', 'cjs'],
] as const;
/** These make the thread for renewal a part of the bundle. */
const WITH_THREAD: readonly string[] = ['webpack'];

const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: undefined, VITEST: undefined, NEXT_TELEMETRY_DISABLED: '1' };

// Its program has to be in the bundle with a driver, so it needs one engine with a driver.
describeOn('redis', 'the tarball in a bundle', () => {
  const folder = temporaryFolder();
  let project: Project | undefined;
  let server: Server;
  beforeAll(async () => {
    const { tarball } = await packedPackage(folder.path);
    project = await projectOf(here, tarball);
    if (!project) return;
    for (const name of ['bundle.mjs', 'program.js', 'next'])
      cpSync(join(here, name), join(project.path, name), { recursive: true });
    writeFileSync(join(project.path, 'all.cjs'), commonJs);
    for (const peer of PEERS) {
      const link = join(project.path, 'node_modules', peer);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(packages, peer), link);
    }
    server = await startRedis();
  }, 400_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    project?.[Symbol.dispose]();
    folder[Symbol.dispose]();
  });

  const bundled = async (bundler: string, format: string, program: string, into: string): Promise<string> => {
    const args = ['--no-warnings', 'bundle.mjs', bundler, format, program, into];
    await run(process.execPath, args, { cwd: project!.path, env, maxBuffer: 2 ** 26 });
    return join(into, format === 'cjs' ? 'main.cjs' : 'main.mjs');
  };

  test.for(BUNDLES)(
    'of %s, %s, locks on each engine, shows the page, and says whether it has the thread',
    {
      timeout: 120_000,
    },
    async ([bundler, format], { skip }) => {
      if (!project) return skip();
      const out = join(folder.path, `${bundler}-${format}`); // no packages are there
      const file = await bundled(bundler, format, 'program.js', out);
      const args = ['--disable-warning=ExperimentalWarning', file, server.url, `file:${join(out, 'locks.db')}`];
      const { stdout } = await run(process.execPath, args, { env, cwd: out });
      expect(JSON.parse(stdout)).toEqual({
        memory: true,
        file: true,
        redis: true,
        page: true,
        absent: expect.stringContaining('npm install pg'),
        thread: WITH_THREAD.includes(bundler)
          ? 'held'
          : expect.stringMatching(/^LOCK_UNSUPPORTED: .*keep holdfast out of the bundle/),
      });
    },
  );

  test.for(BUNDLES)('of %s, %s, has every subpath', { timeout: 120_000 }, async ([bundler, format], { skip }) => {
    if (!project) return skip();
    const out = join(project.path, `all-${bundler}-${format}`);
    const { stdout } = await run(process.execPath, [await bundled(bundler, format, 'all.cjs', out)], { env, cwd: out });
    expect(stdout).toBe('all\n');
  });

  test.for([
    ['Turbopack', [], true],
    ['webpack', ['--webpack'], false],
  ] as const)(
    'of Next by %s, has the route handler of the page',
    { timeout: 360_000 },
    async ([name, flags, thread], { skip }) => {
      if (!project) return skip();
      const app = join(project.path, `next-${name}`);
      cpSync(join(project.path, 'next'), app, { recursive: true });
      const { code } = found('docs/guides/frameworks.md', 'Next: a route handler');
      const grabOrder =
        'const taken = new Set();\nconst grabOrder = async (id) => !taken.has(id) && !!taken.add(id);\n';
      const route = join(app, 'app/api/orders/[id]/grab');
      mkdirSync(route, { recursive: true });
      writeFileSync(join(route, 'route.js'), grabOrder + (await transform(code, { loader: 'ts' })).code);
      const root = JSON.stringify(dirname(project.path));
      writeFileSync(join(app, 'next.config.mjs'), `export default { turbopack: { root: ${root} } };\n`);
      const next = join(dirname(project.path), 'node_modules/next/dist/bin/next');
      await run(process.execPath, [next, 'build', ...flags], { cwd: app, env, maxBuffer: 2 ** 26 });
      expect(readdirSync(app)).toContain('.next');

      const port = `${await freePort()}`;
      const child = spawn(process.execPath, [next, 'start', '--hostname', HOST, '--port', port], {
        cwd: app,
        env: { ...env, HOLDFAST_URL: server.url },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      try {
        const url = `http://${HOST}:${port}/api`;
        await until('Next listens', () =>
          fetch(`${url}/none`).then(
            () => true,
            () => false,
          ),
        );
        const grabs = [1, 2, 3].map((driver) => fetch(`${url}/orders/42/grab?driver=${driver}`, { method: 'POST' }));
        expect((await Promise.all(grabs)).map(({ status }) => status).sort()).toEqual([201, 409, 409]);
        const told = await (await fetch(`${url}/thread`)).json();
        expect(told).toEqual(thread ? { held: true } : { code: 'LOCK_UNSUPPORTED', message: expect.any(String) });
      } finally {
        child.kill('SIGTERM');
        await settleWithin('Next ends', ended).catch(() => child.kill('SIGKILL'));
      }
    },
  );
});
