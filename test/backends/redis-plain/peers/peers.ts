import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { builtOnce } from '../../../kit/built.ts';
import { LineProgram } from '../../../kit/line-program.ts';
import { type Need, program } from '../../../kit/programs.ts';
import { packagesOf } from '../../../kit/project.ts';

/** ms that a registry may take to send everything. */
const INSTALLATION = 240_000;
const DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

const run = (command: string, args: string[], cwd: string): Promise<unknown> =>
  promisify(execFile)(command, args, { cwd, timeout: INSTALLATION });
const here = (...path: string[]): string => join(import.meta.dirname, ...path);
const node = (file: string): string[] => [process.execPath, '--disable-warning=ExperimentalWarning', here(file)];

/** The registries of other languages need not answer for this suite to say something: a loud line tells what did not run. */
const NEEDED = false;

/** How a program is called, without its last arguments: the ports of the servers and of the referee. Undefined where it cannot be built. */
type Build = () => Promise<{ readonly command: readonly string[]; readonly last?: string } | undefined>;

const inGo =
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

const inPython: Build = async () => {
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

const inJava =
  (integration: string, lettuce: string, kind: 'spin' | 'pubsub' | 'absent'): Build =>
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

const inNode =
  (library: string): Build =>
  async () => {
    const folder = await packagesOf(here('lock-libraries'));
    return folder ? { command: [...node('node.ts'), library], last: folder } : undefined;
  };

/** Another program that locks by the convention, as data: what it is, and in what it differs from the others. */
export interface Peer {
  readonly title: string;
  readonly version: string;
  readonly needs: readonly Need[];
  readonly build: Build;
  /** The options of `plainRedis()` that give its keys. */
  readonly ours?: { readonly prefix?: string; readonly registry?: string };
  /** More than one: both take a majority of so many servers. Default 1. */
  readonly nodes?: number;
  /** Whether a holder of its renews by itself, or by a call. */
  readonly renews: 'itself' | 'by a call';
  /** The lease under which it renews, ms. Default 700; more for those that give a server a part of it, or renew only if enough is left. */
  readonly lease?: number;
  /** The same thread may take the lock again. */
  readonly reenters?: true;
  /** Only the command looks at it: the suite has others of its kind. */
  readonly byCommand?: boolean;
  /** Its waiters hear of a release alone: after an expiry they ask when their whole wait is over. */
  readonly oversleeps?: true;
}

const IN_NODE: readonly Peer[] = [
  { title: 'redlock 4', version: '4.2.0', needs: [], build: inNode('redlock4'), renews: 'by a call' },
  { title: 'redlock 5', version: '5.0.0-beta.2', needs: [], build: inNode('redlock5'), renews: 'itself' },
  {
    ...{ title: 'redlock-universal', version: '0.8.5', needs: [], build: inNode('redlock-universal') },
    ...{ renews: 'by a call', lease: 2_700 },
  },
  {
    ...{ title: 'redis-semaphore', version: '5.8.0', needs: [], build: inNode('redis-semaphore') },
    ...{ renews: 'itself', ours: { prefix: 'mutex:' } },
  },
  { title: '@verrou/core', version: '0.5.2', needs: [], build: inNode('verrou'), renews: 'by a call' },
];
const ELSEWHERE: readonly Peer[] = [
  {
    ...{ title: 'redsync (Go)', version: '4.18.1', needs: ['go'], build: inGo('redsync') },
    ...{ renews: 'by a call', lease: 2_700 },
  },
  { title: 'bsm/redislock (Go)', version: '0.9.4', needs: ['go'], build: inGo('bsm'), renews: 'by a call' },
  { title: 'redis-py (Python)', version: '8.1.0', needs: ['python'], build: inPython, renews: 'by a call' },
];

/** The oldest of its line, since later ones listen to other channels, and one of the next line. */
const SPRING: readonly Peer[] = (
  [
    ['6.5.0', '6.6.0.RELEASE'],
    ['7.1.2', '7.5.2.RELEASE'],
  ] as const
).flatMap(([version, lettuce]): Peer[] => {
  const common = { version, needs: ['maven'], renews: 'itself', ours: { registry: 'peers' }, reenters: true } as const;
  return [
    { ...common, title: `RedisLockRegistry ${version}, spin`, build: inJava(version, lettuce, 'spin') },
    {
      ...{ ...common, title: `RedisLockRegistry ${version}, pub-sub`, build: inJava(version, lettuce, 'pubsub') },
      oversleeps: true,
    },
  ];
});
const ABSENT: Peer = {
  ...{ title: 'Spring setIfAbsent and a script', version: '4.1.2', needs: ['maven'] },
  ...{ build: inJava('7.1.2', '7.5.2.RELEASE', 'absent'), renews: 'by a call' },
};

/** Those that know a majority, and whether the suite looks at it. */
const MAJORITY: Readonly<Record<string, 'in the suite' | 'by the command'>> = {
  'redlock 4': 'by the command',
  'redlock 5': 'in the suite',
  'redlock-universal': 'by the command',
  'redis-semaphore': 'by the command',
  'redsync (Go)': 'in the suite',
};

/** Each alone on a server, and those that know a majority over three. */
export const PEERS: readonly Peer[] = [
  ...IN_NODE,
  ...ELSEWHERE,
  ...SPRING,
  ABSENT,
  ...[...IN_NODE, ...ELSEWHERE]
    .filter(({ title }) => Object.hasOwn(MAJORITY, title))
    .map(
      (peer): Peer => ({
        ...{ ...peer, title: `${peer.title}, a majority of 3`, nodes: 3 },
        byCommand: MAJORITY[peer.title] === 'by the command',
      }),
    ),
];

/** The programs of a peer and of ours, on these servers. */
export interface Sides {
  them(): Promise<LineProgram>;
  us(library: 'ioredis' | 'node-redis'): Promise<LineProgram>;
}

/** Undefined where the peer cannot be built here: that has been told. */
export async function sidesOf(peer: Peer, ports: readonly number[], referee: number): Promise<Sides | undefined> {
  const built = await peer.build();
  if (!built) return undefined;
  const { command, last = '' } = built;
  const servers = ports.slice(0, peer.nodes ?? 1).join(',');
  const start = (words: readonly string[]): Promise<LineProgram> => LineProgram.start(words[0]!, ...words.slice(1));
  return {
    them: () => start([...command, servers, `${referee}`, last]),
    us: (library) => start([...node('ours.ts'), library, servers, `${referee}`, JSON.stringify(peer.ours ?? {})]),
  };
}
