import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { Shell } from './cli/shell.ts';
import { temporaryFolder } from './kit/folder.ts';
import { buildPackage, packedPackage } from './kit/packed.ts';
import { deadLinks } from './package/pages.ts';
import { typed } from './package/typed.ts';
import { commonJs, esm, USES } from './package/uses.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string): string => join(root, 'node_modules', name);
const run = promisify(execFile);

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  engines: { node: string };
  bin: Record<string, string>;
  exports: Record<string, { types: string }>;
  typesVersions: object;
};
const subpaths = Object.keys(manifest.exports).filter((name) => name !== './package.json');
const named = subpaths.map((name) => `holdfast${name.slice(1)}`);

/** What parts of the package stand on, each for its users. */
const PEERS = ['@opentelemetry/api', '@nestjs/common', '@nestjs/core', '@nestjs/schedule'];

/** As `engines` promises. */
const OLDEST_NODE = `${manifest.engines.node.replace('>=', '')}.0`;
/** `docs/README.md` promises them. The newest is the one that the project uses. */
const OLDEST = '5.2.2';
const OLDEST_FOR_REQUIRE = '5.8.2';
const LAST_WITH_NODE10 = '5.9.3';
const NODENEXT = ['--module', 'nodenext'];

/** A project that has installed the tarball, and the peers. */
describe('the package, as it is installed', () => {
  const folder = temporaryFolder();
  const project = join(folder.path, 'project');
  const installed = join(project, 'node_modules/holdfast');
  const write = (name: string, text: string): void => writeFileSync(join(project, name), text);
  const read = (path: string): string => readFileSync(join(installed, path), 'utf8');
  let inside: readonly string[] = [];
  let tarball = '';

  beforeAll(async () => {
    mkdirSync(project);
    ({ tarball, files: inside } = await packedPackage(folder.path));
    write('package.json', '{ "private": true }');
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], { cwd: project });
    for (const peer of PEERS) {
      mkdirSync(join(project, 'node_modules', dirname(peer)), { recursive: true });
      symlinkSync(bin(peer), join(project, 'node_modules', peer));
    }
    return () => folder[Symbol.dispose]();
  }, 180_000);

  /** From the registry, beside the project: among its packages, or ours, it would take the place of what is there. */
  async function fetched(name: string, version: string): Promise<string> {
    const home = join(folder.path, `${name.replace('/', '+')}-${version}`);
    if (!existsSync(home)) {
      mkdirSync(home);
      writeFileSync(join(home, 'package.json'), '{ "private": true }');
      await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', `${name}@${version}`], { cwd: home });
    }
    return join(home, 'node_modules', name);
  }

  test('every subpath has a use here', () => {
    expect(Object.keys(USES).sort()).toEqual([...subpaths].sort());
  });

  test.each([
    ['import', 'all.mjs', esm],
    ['require', 'all.cjs', commonJs],
  ])('works by %s, every subpath of it, on this Node', async (_way, name, program) => {
    write(name, program);
    const { stdout } = await run(process.execPath, [name], { cwd: project });
    expect(stdout).toBe('all\n');
  });

  // There it is another package's program, of another layout.
  test.skipIf(process.platform === 'win32').each([
    ['import', 'all.mjs', esm],
    ['require', 'all.cjs', commonJs],
  ])(`works by %s, every subpath of it, on Node ${OLDEST_NODE}`, { timeout: 120_000 }, async (_way, name, program) => {
    write(name, program);
    const node = join(await fetched(`node-${process.platform}-${process.arch}`, OLDEST_NODE), 'bin/node');
    const { stdout } = await run(node, [name], { cwd: project });
    expect(stdout).toBe('all\n');
  });

  /** What the compiler of this version complains of. No library is skipped: our own types are looked at, too. */
  async function complaints(version: string, file: string, resolution = NODENEXT): Promise<string> {
    const compiler = version === 'newest' ? bin('typescript') : await fetched('typescript', version);
    write(file, typed(named));
    const options = [...resolution, '--target', 'es2022', '--strict', '--skipLibCheck', 'false', '--noEmit'];
    const { stdout } = await run(
      process.execPath,
      [join(compiler, 'bin/tsc'), ...options, '--types', 'node', '--typeRoots', bin('@types'), file],
      { cwd: project },
    ).catch((error: { stdout: string }) => error);
    return stdout;
  }

  test.each([
    ['newest', 'all.mts'],
    ['newest', 'all.cts'],
    [OLDEST, 'all.mts'],
    [OLDEST_FOR_REQUIRE, 'all.cts'],
  ])('has types for every subpath: TypeScript %s, %s', { timeout: 120_000 }, async (version, file) => {
    expect(await complaints(version, file)).toBe('');
  });

  test.each([OLDEST, LAST_WITH_NODE10])('has types for every subpath in an older CommonJS project: TypeScript %s', {
    timeout: 120_000,
  }, async (version) => {
    const resolution = ['--module', 'commonjs', '--moduleResolution', 'node10'];
    expect(await complaints(version, 'node10.ts', resolution)).toBe('');
  });

  test('the older way to find types names those of every subpath', () => {
    const { '.': main, './package.json': _, ...others } = manifest.exports;
    expect(manifest).toMatchObject({ main: './dist/index.js', types: main!.types });
    const types = Object.entries(others).map(([name, { types }]) => [name.slice(2), [types]]);
    expect(manifest.typesVersions).toEqual({ '*': Object.fromEntries(types) });
  });

  test('the versions of TypeScript that are tried are those that are promised', () => {
    const [, oldest, forRequire] = /TypeScript (\S+) or newer \((\S+) in a CommonJS project\)/.exec(
      read('docs/README.md'),
    )!;
    expect(OLDEST).toMatch(new RegExp(`^${oldest}\\.`));
    expect(OLDEST_FOR_REQUIRE).toMatch(new RegExp(`^${forRequire}\\.`));
  });

  test("the page of a store of one's own is all that it takes: the store of the page keeps the laws", {
    timeout: 150_000,
  }, async () => {
    const [store, laws] = [
      ...readFileSync(join(root, 'docs/guides/your-own-engine.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g),
    ].map(([, code]) => code!);
    const tests = join(project, 'own');
    mkdirSync(tests);
    writeFileSync(join(tests, 'table.ts'), store!);
    writeFileSync(join(tests, 'table.test.ts'), laws!);
    symlinkSync(bin('vitest'), join(project, 'node_modules/vitest'));
    const args = [
      join(bin('vitest'), 'vitest.mjs'),
      'run',
      '--root',
      tests,
      '--reporter=json',
      '--outputFile=told.json',
    ];
    const env = { ...process.env, NODE_OPTIONS: '', VITEST: '' };
    await run(process.execPath, args, { cwd: project, env, maxBuffer: 2 ** 26 });
    const told = JSON.parse(readFileSync(join(tests, 'told.json'), 'utf8')) as Record<string, number>;
    expect(told.numFailedTests).toBe(0);
    expect(told.numPassedTests).toBeGreaterThan(100);
  });

  test('brings the page of all locks, made, with the licences of what is in it', async () => {
    const main = join(installed, 'dist/cli/main.js');
    await using ui = new Shell(process.execPath, [main, 'ui', '--url', 'file:locks.db'], { cwd: project });
    await ui.prints(/It shows/, 20_000);
    const address = /http:\S+/.exec(ui.stdout)![0];
    expect(await (await fetch(address)).text()).toContain('<div id="page">');
    const script = await (await fetch(`${address}page.js`)).text();
    expect(script).toMatch(/preact \d+[\s\S]*Permission is hereby granted/);
    expect(script.length, 'made small').toBeLessThan(100_000);
  });

  /** The command line, by the program that npm starts on every system. */
  const commandLine = (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    new Shell(process.execPath, [join(installed, manifest.bin['holdfast-node']!), ...args], { cwd: project }).end();

  test('the demo finds the processes that it starts', { timeout: 60_000 }, async () => {
    const { code, stdout, stderr } = await commandLine('demo');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('every order has exactly one driver');
  });

  test('torture finds the processes that it starts', { timeout: 60_000 }, async () => {
    const { code, stdout, stderr } = await commandLine(
      'torture',
      '--for',
      '5s',
      '--processes',
      '2',
      '--url',
      'file:hurt.db',
    );
    expect([0, 2], `${stdout}\n${stderr}`).toContain(code); // 2: too little happened to prove anything
  });

  test('where npm cannot start a shell script, it starts the command line by Node', () => {
    expect(read(manifest.bin['holdfast-node']!)).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(read(manifest.bin.holdfast!)).toMatch(/^#!\/bin\/sh\n/);
  });

  test.each(['node-modules', 'pnp'])('Yarn, which starts every program by Node, starts the command line: %s', {
    timeout: 120_000,
  }, async (linker) => {
    const yarn = join(await fetched('@yarnpkg/cli-dist', '4.18.1'), 'bin/yarn.js');
    const home = join(folder.path, linker);
    mkdirSync(home);
    const dependencies = { holdfast: `file:${tarball}` };
    writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, dependencies }));
    writeFileSync(join(home, 'yarn.lock'), '');
    const settings = {
      nodeLinker: linker,
      enableTelemetry: 'false',
      enableGlobalCache: 'false',
      enableImmutableInstalls: 'false',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}: ${value}\n`);
    writeFileSync(join(home, '.yarnrc.yml'), lines.join(''));
    const env = { ...process.env, NODE_OPTIONS: '', CI: undefined };
    const by = async (...args: readonly string[]) =>
      (await run(process.execPath, [yarn, ...args], { cwd: home, env })).stdout;
    await by('install');
    expect(await by('holdfast', '--version')).toMatch(/^holdfast \d/);
    expect(await by('holdfast', 'run', 'report', '--url', 'file:run.db', '--', 'echo', 'done')).toBe('done\n');
  });

  /** The command line as it decides on Windows. What the system itself does there, this does not show. */
  const onWindows = (...args: string[]) => {
    const windows = `data:text/javascript,Object.defineProperty(process,'platform',{value:'win32'})`;
    const program = join(installed, manifest.bin['holdfast-node']!);
    return new Shell(process.execPath, ['--import', windows, program, ...args], { cwd: project }).end();
  };

  test('on Windows run says what it cannot end', async () => {
    const command = ['--', process.execPath, '-p', '6*7'];
    const { code, stdout, stderr } = await onWindows('run', '--url', 'file:run.db', 'report', ...command);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '42\n' });
    expect(stderr).toContain('Windows has no process groups');
  });

  test('on Windows torture is refused, with the reason', async () => {
    const { code, stdout, stderr } = await onWindows('torture', '--url', 'file:torture.db', '--for', '5s');
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('torture stops processes with signals, and Windows has none');
  });

  test('another build in another folder gives the same bytes', { timeout: 120_000 }, async () => {
    const elsewhere = join(folder.path, 'another folder');
    mkdirSync(elsewhere);
    const again = await buildPackage(elsewhere);
    const same = readFileSync(again.tarball).equals(readFileSync(tarball));
    expect(same, `${tarball} and ${again.tarball} are the same`).toBe(true);
  });

  test('brings neither its tests nor its decisions', () => {
    const folders = new Set(
      inside.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('docs/') ? 2 : 1)
          .join('/'),
      ),
    );
    expect(
      [...folders].filter((name) => /^(src|test|bench|models|scripts|lab|examples|site|docs\/decisions)$/.test(name)),
    ).toEqual([]);
    expect(inside).toContain('dist/cli/holdfast');
  });

  test('names no file by its place that is not in it: bundlers look for each', () => {
    const named = inside
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) =>
        [...read(path).matchAll(/new URL\(\s*["']([^"']+)["'],\s*import\.meta/g)].map(([, file]) =>
          posix.join(dirname(path), file!),
        ),
      );
    expect(named).toContain('dist/connect/renewal/worker.js');
    expect(named.filter((path) => !inside.includes(path))).toEqual([]);
  });

  test('every link of its pages leads to a file of it, and to a heading there', () => {
    expect(deadLinks(installed, inside)).toEqual([]);
  });
});
