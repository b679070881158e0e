import { beside, cycling, holding, relaying, waiting } from '../entries.ts';
import { figure, type Row, ratio, type Target } from '../row.ts';

const group = 'redis';
const of = (contestant: string) => ({ group, contestant }) as const;
const all = ['holdfast', 'bare', 'redlock', 'redis-semaphore', 'verrou'].map(of);

const others = all.filter(({ contestant }) => contestant !== 'bare');

const timesBare = (atLeast: number): Target => ({
  what: '× the bare pair',
  value: figure('ratio', 'holdfast'),
  atLeast,
});

const timesPoll = (atLeast: number): Target => ({
  what: '× the hand-overs of a poll of 5 ms',
  value: ratio('handOvers', 'holdfast', 'bare'),
  atLeast,
});

const crowd = { callers: 25, own: false, work: 1, ms: 2_000 };
const four = all.map((who) => ({ ...who, processes: 4 }));
/** Ours with nothing around them: how near to the floor a lock with a token can come. */
const SCRIPTS = 'scripts';
const NO_HAND_OFF = 'holdfast, no hand-off';
const BUSY_POLL = 'holdfast, busy poll';

/** Over a client that gathers commands, and over the other library: each beside the bare pair on the same client. */
const overOther = (plan: { readonly callers?: number } = {}) =>
  ['autopipelining', 'node-redis'].map((how) => beside(of(`holdfast, ${how}`), `bare, ${how}`, plan));

/** Everyone in the engine's own line. */
const line = (callers: number) =>
  cycling({ ...of('holdfast, apart'), name: `${callers} in line` }, { callers, own: false, ms: 1_500 });

export const redisRows: readonly Row[] = [
  {
    group,
    title: 'one caller',
    entries: [
      ...[...others, ...[BUSY_POLL, SCRIPTS, 'token'].map(of)].map((who) => beside(who, 'bare')),
      ...overOther(),
    ],
    targets: [
      timesBare(0.8),
      { what: '× the bare pair, with busy polling', value: figure('ratio', BUSY_POLL), atLeast: 0.95 },
    ],
  },
  {
    group,
    title: '64 callers, own keys',
    entries: [...others.map((who) => beside(who, 'bare', { callers: 64 })), ...overOther({ callers: 64 })],
    targets: [timesBare(0.9)],
  },
  {
    group,
    title: '100 callers, one key',
    entries: all.map((who) => cycling(who, { callers: 100, own: false, ms: 1_500 })),
    targets: [
      timesPoll(300),
      { what: 'least served, of an equal share', value: figure('least', 'holdfast'), atLeast: 0.5 },
    ],
  },
  {
    group,
    title: '4 processes × 25 callers, one key, 1 ms of work',
    entries: [...four, { ...of(NO_HAND_OFF), processes: 4 }].map((who) => cycling(who, crowd)),
    targets: [
      timesPoll(3),
      { what: 'commands a section', value: figure('commands', 'holdfast'), atMost: 0.2 },
      { what: 'commands a section, no hand-off', value: figure('commands', NO_HAND_OFF), atMost: 1.05 },
      { what: 'longest wait, ms', value: figure('longest', 'holdfast'), atMost: 300 },
      { what: 'least served, of an equal share', value: figure('least', 'holdfast'), atLeast: 0.3 },
    ],
  },
  {
    group,
    title: '… over a round trip of 2.5 ms',
    entries: four.slice(0, 2).map((who) => cycling({ ...who, far: true }, crowd)),
    targets: [timesPoll(2.5)],
  },
  {
    group,
    title: 'hand-over between processes',
    entries: [
      ...['holdfast', 'baton', SCRIPTS].map((who) => relaying(of(who))),
      relaying({ ...of('holdfast'), name: 'holdfast, back at once' }, { restless: true }),
    ],
    targets: [
      { what: '× one publish and its message, p50', value: ratio('handOver', 'holdfast', 'baton'), atMost: 1.5 },
    ],
  },
  {
    group,
    title: 'commands a hand-over',
    entries: [line(10), line(5_000)],
    targets: [
      { what: '5,000 in line: × 10 in line', value: ratio('commands', '5000 in line', '10 in line'), atMost: 1.5 },
    ],
  },
  {
    group,
    title: '10,000 holds renewed',
    entries: [holding(of('holdfast'), 10_000, 10_000)],
    targets: [
      { what: 'commands/s', value: figure('commands', 'holdfast'), atMost: 10 },
      { what: 'part of a core', value: figure('cpu', 'holdfast'), atMost: 0.02 },
      { what: 'lost', value: figure('lost', 'holdfast'), atMost: 0 },
      { what: 'event loop late, p99, ms', value: figure('late', 'holdfast'), atMost: 5 },
    ],
    rounds: 1,
  },
  {
    group,
    title: 'memory of a waiter',
    entries: [waiting(of('holdfast'), 10_000)],
    targets: [{ what: 'bytes', value: figure('bytes', 'holdfast'), atMost: 2_048 }],
    rounds: 3,
  },
];
