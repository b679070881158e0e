import { beside, cycling } from '../entries.ts';
import { figure, type Row, ratio } from '../row.ts';

/** Ours with nothing around them: how near to the floor a lock with a token can come. */
const SCRIPTS = 'scripts';
const POLLED_SCRIPTS = 'scripts, busy poll';
const TOKEN = 'token, busy poll';
const NO_BUSY_POLL = 'holdfast, no busy poll';
const healthy = 'redlock';
const hung = 'redlock-hung';
const timesBare = figure('ratio', 'holdfast');
const crowd = { callers: 5, own: false, work: 1, ms: 3_000 };

/** Five Redis. The peer is left out where two are stopped: it waits for them for ever. */
export const redlockRows: readonly Row[] = [
  {
    group: healthy,
    title: 'one caller',
    entries: [
      ...['holdfast', 'redlock', NO_BUSY_POLL, SCRIPTS, POLLED_SCRIPTS, TOKEN].map((contestant) =>
        beside({ group: healthy, contestant }, 'bare'),
      ),
      beside({ group: healthy, contestant: 'holdfast, autopipelining' }, 'bare, autopipelining'),
    ],
    targets: [{ what: '× the bare pair at all five at once', value: timesBare, atLeast: 0.95 }],
  },
  {
    group: healthy,
    title: '2 processes × 5 callers, one key, 1 ms of work',
    entries: ['holdfast', 'bare', 'redlock'].map((contestant) =>
      cycling({ group: healthy, contestant, processes: 2 }, crowd),
    ),
    targets: [
      { what: '× the hand-overs of a poll of 5 ms', value: ratio('handOvers', 'holdfast', 'bare'), atLeast: 1 },
      { what: 'least served, of an equal share', value: figure('least', 'holdfast'), atLeast: 0.1 },
    ],
  },
  {
    group: hung,
    title: 'one caller, two of five stopped',
    entries: [
      ...['holdfast', NO_BUSY_POLL, SCRIPTS].map((contestant) => beside({ group: hung, contestant }, 'bare')),
      beside({ group: hung, contestant: 'holdfast, autopipelining' }, 'bare, autopipelining'),
    ],
    targets: [{ what: '× the bare pair at all five at once', value: timesBare, atLeast: 0.9 }],
  },
];
