import { LineProgram } from '../../../kit/line-program.ts';
import type { Need } from '../../../kit/programs.ts';
import { type Build, inGo, inJava, inMedusa, inNode, inPhp, inPython, node } from './builds.ts';

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
  /** Whether a holder of its renews by itself, by a call, or not at all. */
  readonly renews: 'itself' | 'by a call' | 'never';
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
  {
    ...{ title: 'Medusa', version: '2.21.2', needs: [], build: inMedusa, renews: 'itself', lease: 1_000 },
    ...{ ours: { prefix: 'medusa_lock:' }, byCommand: true },
  },
];
const ELSEWHERE: readonly Peer[] = [
  {
    ...{ title: 'redsync (Go)', version: '4.18.1', needs: ['go'], build: inGo('redsync') },
    ...{ renews: 'by a call', lease: 2_700 },
  },
  { title: 'bsm/redislock (Go)', version: '0.9.4', needs: ['go'], build: inGo('bsm'), renews: 'by a call' },
  { title: 'redis-py (Python)', version: '8.1.0', needs: ['python'], build: inPython, renews: 'by a call' },
  {
    ...{ title: 'Laravel (PHP)', version: '8.83.26', needs: [], build: inPhp, renews: 'never', lease: 1_000 },
    ...{ ours: { prefix: 'app_database_app_cache:' }, byCommand: true },
  },
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
const SHEDLOCK: Peer = {
  ...{
    title: 'ShedLock (Java)',
    version: '6.0.2',
    needs: ['maven'],
    build: inJava('6.5.0', '6.6.0.RELEASE', 'shedlock'),
  },
  ...{ renews: 'by a call', ours: { prefix: 'job-lock:prod:' } },
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
  SHEDLOCK,
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
