import { invalid, shown } from '../core/errors.ts';
import { checkKey, MAX_KEY_BYTES } from '../core/key.ts';

/** When a job is due: a `Date`, ms since 1970, or text as ISO 8601 has it, with a zone. */
export type Tick = Date | number | string;

const FORM = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
/** The last one whose year has four digits. */
const LAST = Date.UTC(10_000, 0, 1) - 1;

/** @throws LockError `LOCK_INVALID` for what is no time, or none that all instances would read alike */
export function millisecondsOf(tick: unknown, name?: string): number {
  const ms = tick instanceof Date ? tick.getTime() : typeof tick === 'string' ? parsed(tick) : tick;
  if (Number.isInteger(ms) && (ms as number) >= 0 && (ms as number) <= LAST) return ms as number;
  throw invalid(
    `a tick must be a Date, whole ms since 1970, or text such as "2026-05-04T03:00:00Z", with a zone, not ${given(tick)}`,
    name,
  );
}

const given = (tick: unknown): string =>
  tick instanceof Date ? (Number.isNaN(tick.getTime()) ? 'an invalid Date' : tick.toISOString()) : shown(tick);

/** `Date.parse` takes the 31st of February for the third of March. */
function parsed(text: string): number {
  const [, year, month, day] = FORM.exec(text) ?? [];
  if (!day || new Date(`${year}-${month}-01`).getUTCMonth() !== Number(month) - 1) return Number.NaN;
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= last ? Date.parse(text) : Number.NaN;
}

/** The keys of a tick, and the one that all runs of its name share. */
export interface TickKeys {
  /** Whoever holds it may run the tick. */
  readonly run: string;
  /** Held, or noted, once the tick was run. */
  readonly done: string;
  /** Held while any tick of the name runs, where they must not overlap. */
  readonly running: string;
}

/** What the longest of the keys adds to a name, in bytes. */
const ADDED = '@2026-05-04T03:00:00.000Z#done'.length;

/** @throws LockError `LOCK_INVALID` for a name that is none, or too long */
export function keysOf(name: unknown, due: number): TickKeys {
  const checked = checkKey(name, 'name');
  const bytes = Buffer.byteLength(checked);
  if (bytes > MAX_KEY_BYTES - ADDED)
    throw invalid(
      `the name ${shown(checked)} has ${bytes} bytes; with the time of a tick behind it at most ${MAX_KEY_BYTES - ADDED} are allowed`,
    );
  const run = `${checked}@${new Date(due).toISOString()}`;
  return { run, done: `${run}#done`, running: `${checked}@running` };
}

const KEY_OF_TICK = /@(?:[-+\d]+-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?:#done)?|running)$/;

/** The name that a key of a tick was made of; any other key as it is. */
export const nameOfKey = (key: string): string => (key.includes('@') ? key.replace(KEY_OF_TICK, '') : key);
