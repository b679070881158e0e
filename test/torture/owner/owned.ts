import type { Violation } from '../../../products/torture/verdict.ts';
import { startEtcd, startEtcdMembers } from '../../kit/etcd.ts';
import { startMariadb } from '../../kit/mariadb.ts';
import { startNatsCluster } from '../../kit/nats.ts';
import { exchange } from '../../kit/net.ts';
import { startPostgres } from '../../kit/postgres.ts';
import { startRedis, startRedisCluster, startRedisNodes, startRedisSentinel, untilWhole } from '../../kit/redis.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { slowDisk } from '../../kit/slow-disk.ts';
import { steppedClock } from '../../kit/stepped-clock.ts';
import { until } from '../../kit/wait.ts';
import { startZookeeper, startZookeeperMembers } from '../../kit/zookeeper.ts';
import { NODE_REDIS } from '../node-redis.ts';
import type { Hurt, HurtKind } from './hurts.ts';

export interface Owned {
  readonly name: string;
  /** Of docs/promises.md: what is looked at. */
  readonly promise: string;
  readonly hurts: readonly HurtKind[];
  /** What the page says that this may break. */
  readonly mayBreak?: readonly Violation['broken'][];
  /** The program of a process. Default: that of `holdfast torture`. */
  readonly worker?: URL;
  start(): Promise<Hurt & { readonly url: string } & AsyncDisposable>;
}

const KEEPS = { appendonly: 'yes', appendfsync: 'always' };
const CRASH = 'survives a crash of the server';
const MINORITY = 'survives the loss of a minority';
const FORGETS = 'best effort: a fail-over may forget a grant';
const ZOOKEEPER = '?sessionTimeout=4s';

/** Where two may hold, the resource may refuse the one with the lower token. */
const TWO_HOLD: readonly Violation['broken'][] = ['exclusion', 'register'];
const AT_REST: readonly HurtKind[] = ['stopped', 'killed, back with its data'];
const ON_DISK: readonly HurtKind[] = [...AT_REST, 'its disk slow'];
const OF_SEVERAL: readonly HurtKind[] = [...AT_REST, 'a majority stopped'];
const OF_LED: readonly HurtKind[] = [...OF_SEVERAL, 'its leader stopped'];

const single = async (starting: Promise<Server>, query = '') => {
  const server = await starting;
  return {
    url: server.url + query,
    servers: [server],
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
};

const several = async (starting: Promise<Servers>, query = '') => {
  const group = await starting;
  return { url: group.url + query, servers: group.servers, [Symbol.asyncDispose]: () => group[Symbol.asyncDispose]() };
};

/** One of them leads: it answers to `asked` so. */
const led = async (starting: Promise<Servers>, asked: string, so: RegExp, query = '') => {
  const group = await several(starting, query);
  const primary = async (): Promise<number> => {
    let leader: number | undefined;
    await until('one of them leads', async () => {
      for (const { port } of group.servers) {
        if (so.test(await exchange(port, asked).catch(() => ''))) leader = port;
      }
      return leader !== undefined;
    });
    return leader!;
  };
  return { ...group, primary };
};

/** On a disk that can be made slow. */
async function onDisk(start: () => Promise<Server>) {
  await using stack = new AsyncDisposableStack();
  const disk = stack.use(await slowDisk());
  const owned = stack.use(await single(disk.under(start)));
  const all = stack.move();
  return { ...owned, drag: disk.drag, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

type Start = Owned['start'];

/** With a clock of their own, which is set. */
async function byClock(start: Start): ReturnType<Start> {
  await using stack = new AsyncDisposableStack();
  const clock = stack.use(await steppedClock());
  const owned = stack.use(await clock.under(start));
  const all = stack.move();
  return { ...owned, step: clock.step, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Engines whose leases go by a clock that can be set. */
const SETTABLE: Readonly<Record<string, Start>> = {
  redis: () => single(startRedis()),
  'redlock over 5': () => several(startRedisNodes(5, KEEPS)),
  postgres: () => single(startPostgres()),
  'mysql (MariaDB)': () => single(startMariadb()),
};

const CLOCKS: readonly Owned[] = [
  ...Object.entries(SETTABLE).flatMap(([name, start]): Owned[] => [
    {
      name: `${name}, its clock set back`,
      promise: 'a clock that is set back shortens no lease',
      hurts: ['its clock set back'],
      start: () => byClock(start),
    },
    {
      name: `${name}, its clock set forward`,
      promise: 'a clock that is set forward shortens leases: two may hold, the token tells',
      hurts: ['its clock set forward'],
      // Who does not know yet hands on the tokens that it has, and the resource refuses them.
      mayBreak: ['exclusion', 'tokens', 'register'],
      start: () => byClock(start),
    },
  ]),
  {
    name: 'etcd, one member, its clock set',
    promise: 'a clock that is set shortens no lease',
    hurts: ['its clock set back', 'its clock set forward'],
    start: () => byClock(() => single(startEtcd())),
  },
  {
    name: 'zookeeper, one server, its clock set',
    promise: 'sessions do not go by a clock that can be set',
    hurts: ['its clock set back', 'its clock set forward', 'its clock set back by ten minutes'],
    start: () => byClock(() => single(startZookeeper(), ZOOKEEPER)),
  },
];

/** The first of its three primaries, or whatever has taken its place, is killed: the keys of the others are not hurt. */
async function cluster() {
  const group = await startRedisCluster();
  let turn = 0;
  return {
    url: group.url,
    servers: group.servers,
    async primary() {
      await untilWhole(group);
      return group.servers[turn++ % group.servers.length]!.port;
    },
    [Symbol.asyncDispose]: () => group[Symbol.asyncDispose](),
  };
}

/** A bucket with three replicas. */
async function natsOverThree() {
  const group = await startNatsCluster();
  return {
    url: group.url,
    servers: group.servers,
    primary: async () => (await group.leader()).port,
    [Symbol.asyncDispose]: () => group[Symbol.asyncDispose](),
  };
}

const REDIS: readonly Owned[] = [
  {
    name: 'redis, append-only file, always synced',
    promise: CRASH,
    hurts: ON_DISK,
    start: () => onDisk(() => startRedis(KEEPS)),
  },
  {
    name: 'redis without persistence',
    promise: 'loses its data: two may hold, tokens grow',
    hurts: ['killed, back without data'],
    mayBreak: TWO_HOLD,
    start: () => single(startRedis()),
  },
  {
    name: 'redis-sentinel',
    promise: FORGETS,
    hurts: ['its primary killed'],
    mayBreak: TWO_HOLD,
    start: () => startRedisSentinel(),
  },
  {
    name: 'redis-cluster',
    promise: FORGETS,
    hurts: ['its primary killed'],
    mayBreak: TWO_HOLD,
    start: cluster,
  },
];

export const OWNED: readonly Owned[] = [
  ...REDIS,
  ...REDIS.map((owned) => ({ ...owned, name: `${owned.name}, by node-redis`, worker: NODE_REDIS })),
  {
    name: 'redlock over 5',
    promise: MINORITY,
    hurts: [...OF_SEVERAL, 'killed, back without data'],
    start: () => several(startRedisNodes(5, KEEPS)),
  },
  { name: 'postgres', promise: CRASH, hurts: ON_DISK, start: () => onDisk(() => startPostgres()) },
  { name: 'mysql (MariaDB)', promise: CRASH, hurts: ON_DISK, start: () => onDisk(() => startMariadb()) },
  { name: 'etcd, one member', promise: CRASH, hurts: AT_REST, start: () => single(startEtcd()) },
  {
    name: 'etcd over 3',
    promise: MINORITY,
    hurts: OF_LED,
    start: () => led(startEtcdMembers(3), 'GET /metrics HTTP/1.0\r\n\r\n', /^etcd_server_is_leader 1$/m),
  },
  {
    name: 'zookeeper, one server',
    promise: CRASH,
    hurts: AT_REST,
    start: () => single(startZookeeper(), ZOOKEEPER),
  },
  {
    name: 'zookeeper over 3',
    promise: MINORITY,
    hurts: OF_LED,
    start: () => led(startZookeeperMembers(3), 'srvr', /^Mode: leader$/m, ZOOKEEPER),
  },
  {
    name: 'nats over 3',
    promise: MINORITY,
    hurts: [...OF_LED, 'its primary killed'],
    start: natsOverThree,
  },
  ...CLOCKS,
];
