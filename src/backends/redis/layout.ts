/**
 * Declares the form of a text: fields of a fixed width, then words, with one blank between any two. Scripts name the fields
 * (`$sole.token`, see scripts/build-lua.mjs), and TypeScript writes by the same declaration.
 */
export interface Layout {
  /** What every stored text of this kind begins with. */
  readonly kind?: string;
  readonly fixed: Readonly<Record<string, number>>;
  /** The pattern of each word; the last word may have blanks. */
  readonly words: Readonly<Record<string, string>>;
}

const NUMBER = '%d+';
/** Any number of them, also none. */
const NUMBERS = '[%d:]*';
const WORD = '%S+';
const REST = '.*';

/** Tokens are µs of the server's clock: always 16 digits, so that as text they have a fixed place and the order of numbers. */
const TIME_DIGITS = 16;

/** The last tokens given, or those of a claim: the first, and how many from it on. */
const TOKENS = { token: TIME_DIGITS, tokenCount: 4 };

/**
 * What a claim asks for, and the channel for its grant and its eviction: `-` is none. Before the name of a channel is a sign (`channelOf` in wake-ups.ts).
 * `ttl` is in ms.
 */
const ASKED_FOR = { id: WORD, units: NUMBER, capacity: NUMBER, ttl: NUMBER };
const CLAIM = { ...ASKED_FOR, channel: WORD, label: REST };

/** Makes a layout whose kind tells the version of the format, and what the key of a lock holds. */
const kind = (
  name: string,
  fixed: Layout['fixed'],
  words: Layout['words'] = {},
): Layout & { readonly kind: string } => ({
  kind: `1 ${name}`,
  fixed: { kind: 6, ...TOKENS, ...fixed },
  words,
});

export const layouts = {
  /** The record of a lock that nobody holds. */
  free: kind('free', {}),
  /** The record of a claim that is alone, with any number of units. `seen` is its last sign of life. */
  sole: kind('sole', { seen: TIME_DIGITS }, CLAIM),
  /**
   * The record of several claims: the units of all holders, the capacities that they named, each with how many named it, the smallest first,
   * the capacity below which these are exact, the time at which the three keys of the lock expire, ms, and the holder that leaves no unit, or
   * `-`. That one and its expiry are at hand, since a hot key mostly has one: what else is there of units is not read then.
   */
  queue: kind(
    'many',
    { expiry: TIME_DIGITS },
    { taken: NUMBER, capacities: NUMBERS, exact: NUMBER, keep: NUMBER, exclusive: WORD },
  ),
  /** A claim of a queue, in the hash `…:claims`. */
  record: { fixed: { ...TOKENS, seen: TIME_DIGITS }, words: CLAIM },
  claim: { fixed: {}, words: CLAIM },
  /** The beginning of a claim, by which a renewal finds it. */
  hold: { fixed: {}, words: ASKED_FOR },
  /** The demands on a claim: its token may not be below `minToken` (dashes: any will do); `queue` is 1 or 0. */
  asked: { fixed: { notAfter: TIME_DIGITS, minToken: TIME_DIGITS, queue: 1, tokenCount: 4 }, words: CLAIM },
} as const satisfies Record<string, Layout>;

/** Writes a time or a token as the scripts expect it. */
export const digits = (micros: number | bigint): string => `${micros}`.padStart(TIME_DIGITS, '0');

/** Stands in the place of a token, and says that there is none. */
export const NO_TOKEN = '-'.repeat(TIME_DIGITS);
