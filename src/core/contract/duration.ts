import { invalid, shown } from './errors.ts';

type Unit = 'ms' | 's' | 'm' | 'h' | 'd';

/**
 * A number of milliseconds, or a string such as `'250ms'`, `'30s'`, `'1.5m'`, `'2h'`, `'1d'`. For text from a
 * configuration, whose form TypeScript cannot know, use `duration(text)`.
 */
export type Duration = number | `${number}${Unit}` | `${number} ${Unit}`;

/** How long to wait; `'forever'` has no limit. */
export type Wait = Duration | 'forever';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const FORM = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;

export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** What the error message advises for a longer duration. */
  readonly advice?: string | undefined;
}

/** The longest duration that is accepted: a year. A longer one is usually a mistake of units. */
export const MAX_DURATION_MS = 365 * 86_400_000;

/**
 * Checks a duration where it enters holdfast, and gives milliseconds.
 * @throws LockError `LOCK_INVALID`, naming the option, the value and the bound.
 */
export function milliseconds(
  value: Duration,
  name: string,
  { min, max, advice }: Bounds = { min: 0, max: MAX_DURATION_MS },
): number {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? parse(value) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw invalid(
      `${name} is ${shown(value)}; give milliseconds as a number, or a string such as '30s', '5m', '250ms'`,
    );
  }
  if (ms < min || ms > max) {
    const longer = ms > max && advice ? `; ${advice}` : '';
    throw invalid(`${name} is ${shown(value)}; it must be from ${inWords(min)} to ${inWords(max)}${longer}`);
  }
  return ms;
}

/**
 * Makes a duration of a text that TypeScript cannot check, such as a variable of the environment.
 * @throws LockError `LOCK_INVALID`
 * @example const locks = createLocks(memory(), { ttl: duration(process.env.LOCK_TTL ?? '30s') });
 */
export function duration(text: string): Duration {
  milliseconds(text as Duration, 'the duration');
  return text as Duration;
}

/** Checks a wait. It gives Infinity for `'forever'`. @throws LockError `LOCK_INVALID` */
export const waitIn = (value: Wait, name = 'wait'): number =>
  value === 'forever'
    ? Number.POSITIVE_INFINITY
    : milliseconds(value, name, { min: 0, max: MAX_DURATION_MS, advice: "for no limit give 'forever'" });

const UNIT_WORDS = [
  ['year', MAX_DURATION_MS, 's'],
  ['day', 86_400_000, 's'],
  ['h', 3_600_000, ''],
  ['min', 60_000, ''],
  ['s', 1_000, ''],
] as const;

/**
 * Writes a time for people, in the longest unit of which it is a whole number.
 * @example inWords(60_000) === '1 min'
 */
export function inWords(ms: number): string {
  const [unit, length, several] = UNIT_WORDS.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1, ''];
  const count = ms / length;
  return `${count} ${unit}${count === 1 ? '' : several}`;
}

function parse(text: string): number {
  const match = FORM.exec(text.trim());
  return match ? Number(match[1]) * UNITS[match[2]!]! : Number.NaN;
}
