import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { builtOnce } from '../../../kit/built.ts';
import { program } from '../../../kit/programs.ts';
import { packagesOf } from '../../../kit/project.ts';
import { loaderIn } from '../../../matrix/launchers.ts';
import { fetchFromDebian } from '../../../matrix/sources/debian.ts';

/** ms that a registry may take to send everything. */
const INSTALLATION = 240_000;
const DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

const run = (command: string, args: string[], cwd: string): Promise<unknown> =>
  promisify(execFile)(command, args, { cwd, timeout: INSTALLATION });
const here = (...path: string[]): string => join(import.meta.dirname, ...path);
export const node = (file: string): string[] => [process.execPath, '--disable-warning=ExperimentalWarning', here(file)];

/** The registries of other languages need not answer for this suite to say something: a loud line tells what did not run. */
const NEEDED = false;

/** How a program is called, without its last arguments: the ports of the servers and of the referee. Undefined where it cannot be built. */
export type Build = () => Promise<{ readonly command: readonly string[]; readonly last?: string } | undefined>;

export const inGo =
  (library: string): Build =>
  async () => {
    const files = ['main.go', 'go.mod', 'go.sum'].map((name) => here('go', name));
    const built = await builtOnce(
      'peers-in-go',
      files,
      (folder) => run(program('go', 'go'), ['build', '-o', join(folder, 'peer'), '.'], here('go')),
      NEEDED,
    );
    return built ? { command: [join(built, 'peer'), library] } : undefined;
  };

export const inPython: Build = async () => {
  const list = here('python', 'requirements.txt');
  // An environment cannot be moved, so it is not one: the packages are in a folder that Python is told of.
  const built = await builtOnce(
    'peers-in-python',
    [list],
    async (folder) => {
      await run(program('python', 'python3'), ['-m', 'venv', join(folder, 'venv')], folder);
      await run(
        join(folder, 'venv/bin/python'),
        ['-m', 'pip', 'install', '-q', '-r', list, '--target', folder],
        folder,
      );
      rmSync(join(folder, 'venv'), { recursive: true });
    },
    NEEDED,
  );
  if (!built) return undefined;
  return { command: ['env', `PYTHONPATH=${built}`, program('python', 'python3'), here('python/peer.py'), 'redis-py'] };
};

export const inJava =
  (integration: string, lettuce: string, kind: 'spin' | 'pubsub' | 'absent' | 'shedlock'): Build =>
  async () => {
    const files = [here('java/pom.xml'), here('java/Peer.java')];
    const built = await builtOnce(
      `peers-in-java-${integration}`,
      files,
      async (folder) => {
        mkdirSync(join(folder, 'classes'));
        copyFileSync(files[0]!, join(folder, 'pom.xml'));
        const versions = [`-Dintegration=${integration}`, `-Dlettuce=${lettuce}`];
        await run(program('maven', 'mvn'), ['-q', '-B', ...versions, DEPENDENCIES, '-DoutputDirectory=jars'], folder);
        await run(program('maven', 'javac'), ['-d', 'classes', '-cp', 'jars/*', files[1]!], folder);
      },
      NEEDED,
    );
    if (!built) return undefined;
    const path = ['classes', 'jars/*'].map((part) => join(built, part)).join(delimiter);
    // What is short-lived needs no second compiler.
    return { command: [program('maven', 'java'), '-XX:TieredStopAtLevel=1', '-cp', path, 'Peer', kind] };
  };

export const inNode =
  (library: string): Build =>
  async () => {
    const folder = await packagesOf(here('lock-libraries'));
    return folder ? { command: [...node('node.ts'), library], last: folder } : undefined;
  };

/** Its framework is far larger than the other libraries are, and nobody else needs it. */
export const inMedusa: Build = async () => {
  const list = here('medusa', 'package.json');
  const folder = await builtOnce(
    'peers-in-medusa',
    [list],
    async (begun) => {
      copyFileSync(list, join(begun, 'package.json'));
      await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional'], begun);
    },
    NEEDED,
  );
  return folder ? { command: [...node('node.ts'), 'medusa'], last: folder } : undefined;
};

/** The packages of Debian 12, unpacked and not installed. */
export const inPhp: Build = async () => {
  const suites = ['bookworm'];
  const packages = ['php8.2-cli', 'php8.2-redis', 'php-illuminate-cache', 'php-illuminate-redis'];
  const built = await builtOnce(
    'peers-in-php',
    [here('php', 'peer.php')],
    async (folder) => {
      const work = join(folder, 'work');
      mkdirSync(work);
      fetchFromDebian({ suites, packages }, work, join(folder, 'root'));
      rmSync(work, { recursive: true });
    },
    NEEDED,
  );
  if (!built) return undefined;
  const root = join(built, 'root');
  const extensions = join(root, 'usr/lib/php/20220829');
  const settings = [
    `extension_dir=${extensions}`,
    ...['extension=igbinary', 'extension=redis'],
    `include_path=${join(root, 'usr/share/php')}`,
  ].flatMap((setting) => ['-d', setting]);
  return { command: [...loaderIn(root), join(root, 'usr/bin/php8.2'), '-n', ...settings, here('php', 'peer.php')] };
};
