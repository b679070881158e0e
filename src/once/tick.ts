import { checkKey, invalid, MAX_KEY_BYTES, shown } from '../core/index.ts';

/** When a job is due: a `Date`, ms since 1970, or text in the form of ISO 8601 with a zone. */
export type Tick = Date | number | string;

const FORM = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
/** The last time whose year has four digits. */
const LAST_TICK_MS = Date.UTC(10_000, 0, 1) - 1;

/** @throws LockError `LOCK_INVALID` for a value that is no time, or that instances could read differently */
export function millisecondsOf(tick: unknown, name?: string): number {
  const ms = tick instanceof Date ? tick.getTime() : typeof tick === 'string' ? parseTime(tick) : tick;
  if (Number.isInteger(ms) && (ms as number) >= 0 && (ms as number) <= LAST_TICK_MS) return ms as number;
  throw invalid(
    `a tick must be a Date, whole ms since 1970, or text such as "2026-05-04T03:00:00Z", with a zone, not ${shownTick(tick)}`,
    name,
  );
}

const shownTick = (tick: unknown): string =>
  tick instanceof Date ? (Number.isNaN(tick.getTime()) ? 'an invalid Date' : tick.toISOString()) : shown(tick);

/** Refuses days that a month does not have: `Date.parse` reads the 31st of February as the third of March. */
function parseTime(text: string): number {
  const [, year, month, day] = FORM.exec(text) ?? [];
  if (!day || new Date(`${year}-${month}-01`).getUTCMonth() !== Number(month) - 1) return Number.NaN;
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= last ? Date.parse(text) : Number.NaN;
}

/** The keys of a tick, and the key that all runs of its name share. */
export interface TickKeys {
  /** The holder of this key may run the tick. */
  readonly run: string;
  /** This key is held, or has a hint, after the tick was run. */
  readonly done: string;
  /** This key is held, or has a hint, after the run of the tick failed. */
  readonly failed: string;
  /** This key is held while any tick of the name runs, if runs must not overlap. */
  readonly running: string;
}

/** How many bytes the longest key adds to a name. */
const ADDED_BYTES = '@2026-05-04T03:00:00.000Z#failed'.length;

/** @throws LockError `LOCK_INVALID` for a bad or too long name */
export function keysOf(name: unknown, due: number): TickKeys {
  const checked = checkKey(name, 'name');
  const bytes = Buffer.byteLength(checked);
  if (bytes > MAX_KEY_BYTES - ADDED_BYTES)
    throw invalid(
      `the name ${shown(checked)} has ${bytes} bytes; with the time of a tick behind it at most ${MAX_KEY_BYTES - ADDED_BYTES} are allowed`,
    );
  const run = `${checked}@${new Date(due).toISOString()}`;
  return { run, done: `${run}#done`, failed: `${run}#failed`, running: `${checked}@running` };
}

const KEY_OF_TICK = /@(?:[-+\d]+-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(#done|#failed)?|running)$/;

/** Gives the name at the beginning of a key of a tick; any other key is returned unchanged. */
export const nameOfKey = (key: string): string => (key.includes('@') ? key.replace(KEY_OF_TICK, '') : key);

/** What a key's hold says. `record`: a tick was run or failed. `tick`: it runs, or was run and the hold will expire. Undefined: of no tick. */
export function tickHold(key: string): 'tick' | 'record' | undefined {
  const [found, record] = (key.includes('@') && KEY_OF_TICK.exec(key)) || [];
  return record ? 'record' : found && found !== '@running' ? 'tick' : undefined;
}
