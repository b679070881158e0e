/** The tables of pages whose figures `npm run bench -- --publish` writes, or a command of commands.ts. */
import { WAYS } from '../../examples/flash-sale/ways.ts';
import { CURVE, segmentsOf } from '../contestants/stock.ts';
import {
  CANDIDATES,
  EVICTED,
  EVICTIONS,
  FLEETS,
  fleetEntry,
  HAND_OVER,
  LARGE_FLEET,
  LISTENED,
  POSTGRES_FLEET,
  REGISTER_FLEET,
  REGISTER_FLEETS,
  registerEntry,
  SALE,
} from './commands.ts';

/** A figure of a row (`group: title`) and one of its entries, and how it is shown. */
export interface Shown {
  readonly row: string;
  readonly entry: string;
  readonly figure: string;
  readonly as: (value: number) => string;
}

/** The parts of a cell, one after the other. */
export type Cell = string | Shown | readonly (string | Shown)[];

export interface Table {
  readonly page: string;
  readonly head: readonly string[];
  readonly lines: readonly (readonly Cell[])[];
  /** What comes before the days of the measurement. Default: Measured on. */
  readonly measured?: string;
}

const whole = (value: number): string =>
  Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 0 });
const two = (value: number): string => value.toPrecision(2);
const hundredths = (value: number): string => value.toFixed(2);
const share = (value: number): string => (value < 0.005 ? '0' : hundredths(value));
const kilo = (value: number): string => (value / 1_000).toFixed(1);
/** A caller that had no turn waited for the whole measurement, but for its first moment. */
const allOf = (limit: number, value: number): boolean => value >= 0.98 * limit;
const below = (limit: number) => (value: number) =>
  allOf(limit, value) ? `${limit.toLocaleString('en')} and more` : whole(value);

const from =
  (row: string) =>
  (entry: string, figure: string, as: Shown['as']): Shown => ({ row, entry, figure, as });
const across = (row: string, entries: readonly string[]) => (label: string, figure: string, as: Shown['as']) => [
  label,
  ...entries.map((entry) => from(row)(entry, figure, as)),
];

const CLIENTS = ['holdfast', 'bare', 'redlock', 'redis-semaphore', 'verrou'];
const one = across('redis: one caller', CLIENTS);
const own = across('redis: 64 callers, own keys', CLIENTS);
const crowd = across('redis: 100 callers, one key', CLIENTS);
const four = across('redis: 4 processes × 25 callers, one key, 1 ms of work', CLIENTS);
const far = from('redis: … over a round trip of 2.5 ms');
const relayed = from('redis: hand-over between processes');
const lines = from('redis: commands a hand-over');
const renewed = from('redis: 10,000 holds renewed');

const quorum = from('redlock: one caller');
const stopped = from('redlock-hung: one caller, two of five stopped');
const votes = from('redlock: 2 processes × 5 callers, one key, 1 ms of work');

const step = from('stock: one hot key, and none: 4 processes × 25 callers, 1 ms of work');
const bought = (label: string, entry: string): Cell[] => [
  label,
  step(entry, 'handOvers', whole),
  step(entry, 'commands', two),
  step(entry, 'longest', (ms) => (allOf(2_000, ms) ? '2 s and more: some never had a turn' : `${whole(ms)} ms`)),
];

const curve = from('stock: sales a second, by the number of segments');
const sale = from(SALE);
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const unsafe = WAYS.filter((way) => way.unsafe).map(({ name }) => name);
const sold: Cell[][] = WAYS.map(({ name }) =>
  unsafe.includes(name)
    ? [name, ['**', sale(name, 'sold', whole), '**'], '–', '–', '–']
    : [
        name,
        sale(name, 'sold', whole),
        sale(name, 'ordersPerSecond', whole),
        sale(name, 'p99', seconds),
        sale(name, 'commandsPerSale', two),
      ],
);
const ASKED = {
  PostgreSQL: 'postgres',
  etcd: 'etcd',
  ZooKeeper: 'zookeeper',
  Redis: 'redis',
  MariaDB: 'mysql',
  Redlock: 'redlock',
};
/** What candidates ask of each engine; each counts in units of its own. */
const asked = (units: readonly string[]): Cell[][] =>
  Object.entries(ASKED).map(([name, engine], i) => [
    name,
    [from(CANDIDATES)(engine, 'requests', whole), ` ${units[i]}`],
  ]);
const next = from(HAND_OVER);
const turns = (engine: string, figure: string): Shown =>
  next(engine, figure, (ms) => (ms < 100 ? `${ms.toPrecision(2)} ms` : seconds(ms)));
const passed = (next: string, killed: string): Cell[][] => [
  [next, turns('redis', 'handOver'), turns('file', 'handOver')],
  [killed, turns('redis', 'killed'), turns('file', 'killed')],
];
const times = (value: number): string => `${value.toFixed(2)} ×`;
const listened = (label: string, entry = label): Cell[] => [
  label,
  from(LISTENED)(entry, 'time', times),
  from(LISTENED)(entry, 'cpu', times),
];

const NAMES: Readonly<Record<string, string>> = { redis: 'Redis', postgres: 'PostgreSQL', etcd: 'etcd' };
const fleet = from(LARGE_FLEET);
const sizes = (engine: string, ...figures: (readonly [figure: string, as: Shown['as'], unit: string])[]): Cell[] =>
  FLEETS.redis!.map((size) => {
    if (!FLEETS[engine]!.includes(size)) return '–';
    return figures.flatMap(([figure, as, unit], i) => [
      ...(i > 0 ? [', '] : []),
      fleet(fleetEntry(engine, size), figure, as),
      unit,
    ]);
  });
/** To two digits. */
const rough = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en');
const tenth = (value: number): string => value.toFixed(1);
/** What is asked of a large fleet: of each engine, the connections and the memory, a hand-over, standing by, the pace. */
const inFleet = ([connections, handOver, standing, pace]: readonly string[]): Cell[][] =>
  Object.keys(FLEETS).flatMap((engine) => [
    [`${NAMES[engine]}${connections}`, ...sizes(engine, ['connections', whole, ''], ['memory', whole, ' MB'])],
    [handOver!, ...sizes(engine, ['requests', tenth, ''])],
    [standing!, ...sizes(engine, ['standingBy', tenth, ''], ['time', rough, ' µs'])],
    [pace!, ...sizes(engine, ['pace', hundredths, ''])],
  ]);
const percent = (part: number): string => `${Math.round(part * 100)} %`;
const besides = from(POSTGRES_FLEET);
const beside = (labels: readonly string[]): Cell[][] =>
  ['beside', 'waiting'].map((which, i) => [
    labels[i]!,
    besides(`fleet, ${which}`, 'rate', hundredths),
    besides(`fleet, no hand-off, ${which}`, 'rate', hundredths),
  ]);

export const tables: Readonly<Record<string, Table>> = {
  redis: {
    page: 'docs/speed.md',
    head: ['', 'holdfast', 'floor', '`redlock`', '`redis-semaphore`', '`@verrou/core`'],
    lines: [
      one('one caller, × the floor', 'times', hundredths),
      one('processor time of the client, µs a cycle', 'cpu', whole),
      one('p99, ms', 'p99', hundredths),
      one('garbage, kB a cycle', 'garbage', kilo),
      own('64 callers, a key each, × the floor', 'times', hundredths),
      crowd('100 callers, one key, one process: hand-overs/s', 'handOvers', whole),
      crowd('commands for each section', 'commands', two),
      crowd('the one served least, of an equal share', 'least', share),
      four('4 processes × 25 callers, one key, 1 ms of work: hand-overs/s', 'handOvers', whole),
      four('commands for each section', 'commands', two),
      four('longest wait, ms', 'longest', below(2_000)),
      four('the one served least, of an equal share', 'least', share),
      [
        'the same over a round trip of 2.5 ms: hand-overs/s',
        far('holdfast', 'handOvers', whole),
        far('bare', 'handOvers', whole),
        ...['', '', ''],
      ],
    ],
  },
  'redis-more': {
    page: 'docs/speed.md',
    head: ['', ''],
    lines: [
      [
        'from a release to the next holder in another process, p50',
        [
          relayed('holdfast', 'handOver', hundredths),
          ' ms; one bare `PUBLISH` and its message: ',
          relayed('baton', 'handOver', hundredths),
          ' ms',
        ],
      ],
      [
        'commands for a hand-over between processes, 10 in line, 5,000 in line',
        [lines('10 in line', 'commands', two), ', ', lines('5000 in line', 'commands', two)],
      ],
      [
        '10,000 holds renewed',
        [
          renewed('holdfast', 'commands', whole),
          ' commands/s, ',
          renewed('holdfast', 'cpu', (part) => (part * 100).toFixed(1)),
          ' % of a core, the event loop late by ',
          renewed('holdfast', 'late', (ms) => ms.toFixed(1)),
          ' ms (p99), ',
          renewed('holdfast', 'lost', (lost) => (lost === 0 ? 'none' : whole(lost))),
          ' lost',
        ],
      ],
      ['memory of a waiter', [from('redis: memory of a waiter')('holdfast', 'bytes', kilo), ' kB']],
    ],
  },
  redlock: {
    page: 'docs/speed.md',
    head: ['', 'holdfast', 'floor', '`redlock`'],
    lines: [
      ['one caller, × the floor', ...['holdfast', 'bare', 'redlock'].map((who) => quorum(who, 'times', hundredths))],
      [
        'with two of the five stopped, × the floor',
        ...['holdfast', 'bare'].map((who) => stopped(who, 'times', hundredths)),
        'waits for them',
      ],
      [
        '2 processes × 5 callers, one key, 1 ms of work: hand-overs/s',
        ...['holdfast', 'bare'].map((who) => votes(who, 'handOvers', whole)),
        votes('redlock', 'handOvers', (n) => (n < 0.5 ? '0: split votes' : whole(n))),
      ],
      ['longest wait, ms', ...['holdfast', 'bare', 'redlock'].map((who) => votes(who, 'longest', below(3_000)))],
    ],
  },
  local: {
    page: 'docs/speed.md',
    head: ['', 'holdfast', 'peer'],
    lines: [
      [
        'memory, one caller: cycles/s',
        from('memory: one caller')('holdfast', 'perSecond', whole),
        ['`async-mutex`, which knows no lease: ', from('memory: one caller')('async-mutex', 'perSecond', whole)],
      ],
      [
        'memory, 100 callers, one key: hand-overs/s',
        from('memory: 100 callers, one key')('holdfast', 'handOvers', whole),
        from('memory: 100 callers, one key')('async-mutex', 'handOvers', whole),
      ],
      [
        'a file, one caller: cycles/s',
        from('file: one caller')('holdfast', 'perSecond', whole),
        ['`proper-lockfile`: ', from('file: one caller')('proper-lockfile', 'perSecond', whole)],
      ],
      [
        'a file, hand-over between processes, p50',
        [from('file: hand-over between processes')('holdfast', 'handOver', hundredths), ' ms'],
        [from('file: hand-over between processes')('proper-lockfile', 'handOver', hundredths), ' ms'],
      ],
      [
        'a file, from the death of a holder to the next one',
        [from('file: a killed holder replaced')('holdfast', 'replaced', whole), ' ms'],
        '',
      ],
    ],
  },
  stock: {
    page: 'docs/speed.md',
    head: ['', ''],
    lines: [
      [
        '400 buyers, 5 ms of work under the lock: sales/s in 100 segments, with one lock',
        [
          from('stock: 400 buyers, 5 ms of work under the lock')('100 segments', 'perSecond', whole),
          ', ',
          from('stock: 400 buyers, 5 ms of work under the lock')('one lock', 'perSecond', whole),
        ],
      ],
      [
        'one atomic step, 64 buyers: × a bare script that writes the same records',
        from('stock: one atomic step, 64 buyers')('one step', 'times', hundredths),
      ],
    ],
  },
  'hot-key': {
    page: 'docs/guides/selling-without-overselling.md',
    head: ['', 'hand-overs/s', 'commands for each', 'longest wait'],
    lines: [
      bought('`SET NX` and a poll of 5 ms', 'bare'),
      bought("everyone waits in Redis's queue, and is woken", 'holdfast, apart'),
      bought('local first: of each process one waits there', 'holdfast, no hand-off'),
      bought('and hand-over inside the process: the hold passes on there for a while', 'holdfast'),
      bought('no hot key: units in 20 segments, under their locks', '20 segments'),
    ],
  },
  segments: {
    page: 'docs/guides/selling-without-overselling.md',
    head: ['', 'sales a second'],
    lines: CURVE.map((n) => [segmentsOf(n), curve(segmentsOf(n), 'perSecond', whole)]),
  },
  sale: {
    page: 'docs/guides/selling-without-overselling.md',
    head: ['way', 'sold', 'orders/s', 'p99 of the answers', 'commands a sale'],
    lines: sold,
  },
  'hot-key.zh-CN': {
    page: 'docs/guides/selling-without-overselling.zh-CN.md',
    head: ['', '每秒交接', '每次的命令', '最长等待'],
    lines: [
      bought('`SET NX`，每 5 毫秒轮询', 'bare'),
      bought('大家都在 Redis 的队列里等，被唤醒', 'holdfast, apart'),
      bought('先在本地排队：每个进程只有一个在那里等', 'holdfast, no hand-off'),
      bought('再加进程内交接：持有在进程里传一会儿', 'holdfast'),
      bought('没有热点 key：库存分 20 段，各有各的锁', '20 segments'),
    ],
    measured: '测量日期：',
  },
  'segments.zh-CN': {
    page: 'docs/guides/selling-without-overselling.zh-CN.md',
    head: ['', '每秒售出'],
    lines: CURVE.map((n) => [`${n} 段`, curve(segmentsOf(n), 'perSecond', whole)]),
    measured: '测量日期：',
  },
  'sale.zh-CN': {
    page: 'docs/guides/selling-without-overselling.zh-CN.md',
    head: ['方式', '售出', '订单/秒', '答复的 p99', '每笔的命令'],
    lines: sold,
    measured: '测量日期：',
  },
  'hand-over': {
    page: 'docs/guides/leading.md',
    head: ['', 'Redis', 'a file'],
    lines: passed('from one function to the next (p50)', 'after `kill -9`, with a `ttl` of 5 s'),
  },
  'hand-over.zh-CN': {
    page: 'docs/guides/leading.zh-CN.md',
    head: ['', 'Redis', '文件'],
    lines: passed('从一个函数到下一个函数（p50）', '`kill -9` 之后，`ttl` 为 5 s'),
    measured: '测量日期：',
  },
  candidates: {
    page: 'docs/guides/leading.md',
    head: ['engine', 'a second'],
    lines: asked(['statements', 'calls', 'packets', 'scripts', 'statements', 'requests, on five nodes together']),
  },
  'candidates.zh-CN': {
    page: 'docs/guides/leading.zh-CN.md',
    head: ['引擎', '每秒'],
    lines: asked(['条语句', '次调用', '个包', '次脚本', '条语句', '次请求，五个节点合计']),
    measured: '测量日期：',
  },
  'large-fleet': {
    page: 'docs/production.md',
    head: ['', '10 processes', '100', '1,000'],
    lines: inFleet([
      ': connections, memory of the server',
      'requests a hand-over',
      'a waiter, each second: requests, processor time of the server',
      'hand-overs, × ten processes',
    ]),
  },
  'large-fleet.zh-CN': {
    page: 'docs/production.zh-CN.md',
    head: ['', '10 个进程', '100', '1,000'],
    lines: inFleet([
      '：连接数，服务器的内存',
      '每次交接的请求数',
      '每个等待者每秒：请求数，服务器的处理器时间',
      '交接，× 十个进程时',
    ]),
    measured: '测量日期：',
  },
  evicted: {
    page: 'docs/production.md',
    head: EVICTIONS,
    lines: [EVICTIONS.map((engine) => [from(EVICTED)(engine, 'told', (ms) => whole(ms)), ' ms'])],
  },
  'evicted.zh-CN': {
    page: 'docs/production.zh-CN.md',
    head: EVICTIONS,
    lines: [EVICTIONS.map((engine) => [from(EVICTED)(engine, 'told', (ms) => whole(ms)), ' 毫秒'])],
    measured: '测量日期：',
  },
  'postgres-fleet': {
    page: 'docs/backends/postgres.md',
    head: ['× the four processes alone', 'hand-overs', 'without hand-off'],
    lines: beside(['beside 500 processes that waited once', '100 such processes, which all wait']),
  },
  'postgres-fleet.zh-CN': {
    page: 'docs/backends/postgres.zh-CN.md',
    head: ['× 只有四个进程时', '交接', '不在进程内部交接'],
    lines: beside(['旁边有 500 个等过一次的进程', '100 个这样的进程都在等']),
    measured: '测量日期：',
  },
  'register-fleet': {
    page: 'docs/backends/register.md',
    head: ['processes, `ttl`', 'requests/s', 'refused writes', 'leases lost', 'not served'],
    lines: REGISTER_FLEETS.map(([processes, ttl]) => {
      const of = (figure: string, as: Shown['as']) => from(REGISTER_FLEET)(registerEntry(processes, ttl), figure, as);
      return [
        `${processes}, ${ttl / 1_000} s`,
        of('requests', whole),
        of('refused', percent),
        of('lost', whole),
        of('failed', whole),
      ];
    }),
  },
  telemetry: {
    page: 'docs/guides/telemetry.md',
    head: ['listened to by', 'time of a cycle', 'processor time of the client'],
    lines: [
      listened('nobody (the noise of the measurement)', 'nothing (the noise of this measurement)'),
      listened('a listener that does nothing'),
      listened('metrics'),
      listened('metrics, in a trace that is not sampled'),
      listened('metrics, in a trace that is sampled'),
    ],
  },
};

/** All figures that a table shows. */
export const shownIn = ({ lines }: Table): Shown[] =>
  lines.flat(2).filter((part): part is Shown => typeof part !== 'string');
