import { alone, cycling, holding, relaying, waiting } from '../entries.ts';
import { figure, type Row, ratio, type Target } from '../row.ts';

const group = 'redis';
const of = (contestant: string) => ({ group, contestant }) as const;
const all = ['bare', 'holdfast', 'redlock', 'redis-semaphore', 'verrou'].map(of);

const timesBare = (ours: string, floor: string, atLeast: number): Target => ({
  what: `× the ${floor} pair${ours === 'holdfast' ? '' : `: ${ours}`}`,
  value: ratio('perSecond', ours, floor),
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
/** Our script that gives back and takes again: how near to the floor a cycle of one round trip can come. */
const PASS = 'pass';
const NO_HAND_OFF = 'holdfast, no hand-off';
/** `awaitRelease: false`, with the hand-off to the next caller of the process and without it. */
const UNAWAITED = 'holdfast, release not awaited';
const UNAWAITED_APART = 'holdfast, release not awaited, no hand-off';
const LINGER = 'holdfast, linger';

/** Over a client that gathers commands, and over the other library: each beside the bare pair on the same client. */
const overOther = (how: string, callers: number): Row => ({
  group,
  title: `${callers === 1 ? 'one caller' : `${callers} callers, own keys`}, ${how}`,
  entries: [`bare, ${how}`, `holdfast, ${how}`].map((who) => alone(of(who), { callers })),
  floor: `bare, ${how}`,
  targets: [timesBare(`holdfast, ${how}`, `bare, ${how}`, callers === 1 ? 0.8 : 0.9)],
});

/** Everyone in the engine's own line. */
const line = (callers: number) =>
  cycling({ ...of('holdfast, apart'), name: `${callers} in line` }, { callers, own: false, ms: 1_500 });

export const redisRows: readonly Row[] = [
  {
    group,
    title: 'one caller',
    entries: [...all, ...[UNAWAITED, UNAWAITED_APART, LINGER, SCRIPTS, PASS, 'token'].map(of)].map((who) => alone(who)),
    floor: 'bare',
    targets: [
      timesBare('holdfast', 'bare', 0.8),
      { what: '× the processor time of the bare pair', value: ratio('cpu', 'holdfast', 'bare'), atMost: 1.5 },
      { what: 'bytes of garbage a section', value: figure('garbage', 'holdfast'), atMost: 14_336 },
      { what: '× the p99 of the bare pair', value: ratio('p99', 'holdfast', 'bare'), atMost: 2 },
      timesBare(UNAWAITED_APART, 'bare', 1.3),
      timesBare(LINGER, 'bare', 20),
    ],
  },
  {
    group,
    title: 'one caller, over a round trip of 2.5 ms',
    entries: ['bare', 'holdfast', UNAWAITED, UNAWAITED_APART].map((who) => alone({ ...of(who), far: true })),
    floor: 'bare',
    targets: [timesBare('holdfast', 'bare', 0.9), timesBare(UNAWAITED_APART, 'bare', 1.8)],
  },
  {
    group,
    title: '64 callers, own keys',
    entries: all.map((who) => alone(who, { callers: 64 })),
    floor: 'bare',
    targets: [timesBare('holdfast', 'bare', 0.9)],
  },
  ...['autopipelining', 'node-redis'].flatMap((how) => [overOther(how, 1), overOther(how, 64)]),
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
