/** The processes there are. */
export const PEOPLE = ['A', 'B', 'C'] as const;
export type Who = (typeof PEOPLE)[number];

/** Everything that is told in a sentence; each has one in every language. */
export type What =
  // of a process
  | 'asks'
  | 'begins'
  | 'checks'
  | 'overlaps'
  | 'finishes'
  | 'stops-believing'
  | 'told-of-loss'
  | 'gives-up'
  | 're-enters'
  | 'returns-false'
  // at an engine
  | 'granted'
  | 'granted-for-ever'
  | 'admitted'
  | 'queued'
  | 'again'
  | 'late'
  | 'refused'
  | 'looks-free'
  | 'looks-taken'
  | 'overwrites'
  | 'renewed'
  | 'gone'
  | 'ending-set'
  | 'released'
  | 'robs'
  | 'releases-nothing'
  | 'expired'
  | 'subscribed'
  | 'splits'
  // at the resource
  | 'reads'
  | 'writes'
  | 'loses'
  | 'fenced'
  // faults
  | 'paused'
  | 'goes-on'
  | 'killed'
  | 'cut'
  | 'mended'
  | 'lost'
  | 'held-up'
  | 'promoted';

/** Something that happened, in true time: ms since the scene began. */
export interface Happening {
  readonly at: number;
  readonly what: What;
  /** The process or engine that it is about. */
  readonly who?: string;
  /** The other one, where there are two. */
  readonly other?: string;
  /** Where: an engine. */
  readonly place?: string;
  readonly token?: string;
  /** A length of time in ms, a place in line, or a value: what the sentence says. */
  readonly n?: number;
  readonly code?: string;
}

export type Tone = 'plain' | 'fault' | 'bad' | 'good';

const TONES: Partial<Record<What, Tone>> = {
  overlaps: 'bad',
  overwrites: 'bad',
  robs: 'bad',
  loses: 'bad',
  splits: 'bad',
  fenced: 'good',
  late: 'good',
  again: 'good',
  're-enters': 'good',
  'told-of-loss': 'good',
  'returns-false': 'good',
  paused: 'fault',
  killed: 'fault',
  cut: 'fault',
  lost: 'fault',
  'held-up': 'fault',
  promoted: 'fault',
};

export const toneOf = (what: What): Tone => TONES[what] ?? 'plain';

/** What a process does now. */
export type Doing = 'idle' | 'asks' | 'works' | 'gives';
