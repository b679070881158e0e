/**
 * The form of a text: first fields of a fixed width, then words, with one blank between each two. The Lua scripts name the fields (`$sole.token`, see
 * scripts/build-lua.mjs), and TypeScript writes texts from the same declaration.
 */
export interface Layout {
  /** The beginning of every stored text of this kind. */
  readonly kind?: string;
  readonly fixed: Readonly<Record<string, number>>;
  /** The Lua pattern of each word. Only the last word may have blanks. */
  readonly words: Readonly<Record<string, string>>;
}

const NUMBER = '%d+';
/** Numbers with colons between them, or nothing. */
const NUMBERS = '[%d:]*';
const WORD = '%S+';
const REST = '.*';

/** Times and tokens are µs of the server's clock. They always have 16 digits, so that texts sort like numbers, and fields have fixed places. */
const TIME_DIGITS = 16;

/** The tokens of a claim, or the last tokens that a key gave: the first one, and how many there are in a row. */
const TOKENS = { token: TIME_DIGITS, tokenCount: 4 };

/** What a claim asks for; `ttl` is in ms. `channel`: where its grant or eviction is sent: a sign and a name (`channelOf` in wake-ups.ts), or `-`. */
const ASKED_FOR = { id: WORD, units: NUMBER, capacity: NUMBER, ttl: NUMBER };
const CLAIM = { ...ASKED_FOR, channel: WORD, label: REST };

/** Makes the layout of a lock's string. The string begins with the version of the format and the name of its kind. */
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
  /** The string of a lock that nobody holds. */
  free: kind('free', {}),
  /** The string of a lock with a single claim, of any number of units. `seen`: when the claim gave its last sign of life. */
  sole: kind('sole', { seen: TIME_DIGITS }, CLAIM),
  /**
   * The string of a lock with several claims. `taken`: the units of all holders. `capacities`: the capacities that holders named, the smallest first,
   * each followed by how many holders named it. `exact`: only capacities below it are counted exactly. `keep`: when the three keys of the lock
   * expire, ms. `exclusive` and `expiry`: the id of the holder that takes all units, or `-`, and when it expires. A hot key mostly has such a holder,
   * and then scripts do not need the sums.
   */
  queue: kind(
    'many',
    { expiry: TIME_DIGITS },
    { taken: NUMBER, capacities: NUMBERS, exact: NUMBER, keep: NUMBER, exclusive: WORD },
  ),
  /** A claim in a queue: a value of the hash `…:claims`. */
  record: { fixed: { ...TOKENS, seen: TIME_DIGITS }, words: CLAIM },
  claim: { fixed: {}, words: CLAIM },
  /** The beginning of a claim, by which a renewal recognizes it. */
  hold: { fixed: {}, words: ASKED_FOR },
  /** What an attempt asks. `minToken`: the least token that will do; dashes mean any token. `queue`: 1 if the claim may queue, else 0. */
  asked: { fixed: { notAfter: TIME_DIGITS, minToken: TIME_DIGITS, queue: 1, tokenCount: 4 }, words: CLAIM },
} as const satisfies Record<string, Layout>;

/** Writes a time or a token as the scripts expect it. */
export const digits = (micros: number | bigint): string => `${micros}`.padStart(TIME_DIGITS, '0');

/** The text of a token field that has no token. */
export const NO_TOKEN = '-'.repeat(TIME_DIGITS);
