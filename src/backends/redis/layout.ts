/**
 * Declares the form of a text: fields of a fixed width, then words, with one blank between any two of them. Scripts use the names of the fields
 * (`$sole.token`, see scripts/build-lua.mjs), and TypeScript writes texts by the same declaration.
 */
export interface Layout {
  /** What every stored text of this kind begins with. */
  readonly kind?: string;
  readonly fixed: Readonly<Record<string, number>>;
  /** The pattern of each word; the last word may have blanks. */
  readonly words: Readonly<Record<string, string>>;
}

const NUMBER = '%d+';
/** Any number of numbers, or none. */
const NUMBERS = '[%d:]*';
const WORD = '%S+';
const REST = '.*';

/** Tokens are µs of the server's clock: always 16 digits, so that as text they have a fixed place and the order of numbers. */
const TIME_DIGITS = 16;

/** The tokens of a claim, or the last tokens given: the first token, and how many tokens from it on. */
const TOKENS = { token: TIME_DIGITS, tokenCount: 4 };

/**
 * What a claim asks for, and the channel on which its grant or its eviction is sent: `-` is none. A sign stands before the name of the channel
 * (`channelOf` in wake-ups.ts). `ttl` is in ms.
 */
const ASKED_FOR = { id: WORD, units: NUMBER, capacity: NUMBER, ttl: NUMBER };
const CLAIM = { ...ASKED_FOR, channel: WORD, label: REST };

/** Makes a layout that begins with the version of the format, and with what the key of a lock holds. */
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
   * The record of several claims. `taken`: the units of all holders. `capacities`: the capacities that the holders named, each with how many
   * named it, the smallest first. `exact`: the capacity below which they are exact. `keep`: the time at which the three keys of the lock
   * expire, ms. `exclusive` and `expiry`: the holder that takes all units, or `-`. A hot key mostly has such a holder, and then a script does not
   * read the other words.
   */
  queue: kind(
    'many',
    { expiry: TIME_DIGITS },
    { taken: NUMBER, capacities: NUMBERS, exact: NUMBER, keep: NUMBER, exclusive: WORD },
  ),
  /** A claim of a queue, in the hash `…:claims`. */
  record: { fixed: { ...TOKENS, seen: TIME_DIGITS }, words: CLAIM },
  claim: { fixed: {}, words: CLAIM },
  /** The beginning of a claim, by which a renewal recognizes it. */
  hold: { fixed: {}, words: ASKED_FOR },
  /** What an attempt asks: the token may not be below `minToken` (dashes: any token will do); `queue` is 1 or 0. */
  asked: { fixed: { notAfter: TIME_DIGITS, minToken: TIME_DIGITS, queue: 1, tokenCount: 4 }, words: CLAIM },
} as const satisfies Record<string, Layout>;

/** Writes a time or a token as the scripts expect it. */
export const digits = (micros: number | bigint): string => `${micros}`.padStart(TIME_DIGITS, '0');

/** Stands where a token would stand if there was one. */
export const NO_TOKEN = '-'.repeat(TIME_DIGITS);
