import { alone, cycling } from '../entries.ts';
import { figure, type Row, ratio, type Target } from '../row.ts';

/** Ours with nothing around them: how near to the floor a lock with a token can come. */
const SCRIPTS = 'scripts';
const TOKEN = 'token';
const COUNTING = 'holdfast, counter';
const POLLING = 'bare, counter';
const healthy = 'redlock';
const hung = 'redlock-hung';
const AT_ALL = '× the bare pair at all five at once';
const timesBare = (atLeast: number): Target[] => [
  { what: AT_ALL, value: ratio('perSecond', 'holdfast', 'bare'), atLeast },
];
const crowd = { callers: 5, own: false, work: 1, ms: 3_000 };

/** Over clients that gather commands. */
const gathering = (group: typeof healthy | typeof hung, title: string): Row => ({
  group,
  title,
  entries: ['bare, autopipelining', 'holdfast, autopipelining'].map((contestant) => alone({ group, contestant })),
  floor: 'bare, autopipelining',
  targets: [],
});

/** Five Redis. The peer is left out where two are stopped: it waits for them for ever. */
export const redlockRows: readonly Row[] = [
  {
    group: healthy,
    title: 'one caller',
    entries: ['bare', 'holdfast', 'redlock', SCRIPTS, TOKEN].map((contestant) => alone({ group: healthy, contestant })),
    floor: 'bare',
    targets: timesBare(0.75),
  },
  gathering(healthy, 'one caller, autopipelining'),
  {
    group: healthy,
    title: '2 processes × 5 callers, one key, 1 ms of work',
    entries: ['holdfast', 'bare', 'redlock'].map((contestant) =>
      cycling({ group: healthy, contestant, processes: 2 }, crowd),
    ),
    targets: [
      { what: '× the hand-overs of a poll of 5 ms', value: ratio('handOvers', 'holdfast', 'bare'), atLeast: 3 },
      { what: 'least served, of an equal share', value: figure('least', 'holdfast'), atLeast: 0.1 },
    ],
  },
  {
    group: healthy,
    title: '2 processes × 5 callers, one key, a counter on another Redis',
    entries: [COUNTING, `${COUNTING}, no hand-off`, POLLING].map((contestant) =>
      cycling({ group: healthy, contestant, processes: 2 }, { ...crowd, work: 0 }),
    ),
    targets: [
      { what: '× the hand-overs of a poll of 5 ms', value: ratio('handOvers', COUNTING, POLLING), atLeast: 4 },
      { what: 'least served, of an equal share', value: figure('least', COUNTING), atLeast: 0.1 },
    ],
  },
  {
    group: hung,
    title: 'one caller, two of five stopped',
    entries: ['bare', 'holdfast', SCRIPTS].map((contestant) => alone({ group: hung, contestant })),
    floor: 'bare',
    targets: timesBare(0.7),
  },
  gathering(hung, 'one caller, two of five stopped, autopipelining'),
];
