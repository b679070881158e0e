/** The parts that we use of the schedule of a job, in the package `cron` of `@nestjs/schedule`. */
export interface CronTimeLike {
  readonly source: unknown;
  /** Whether `source` is a date instead of an expression. */
  readonly realDate: boolean;
  readonly timeZone?: string | undefined;
  /** In minutes. */
  readonly utcOffset?: number | undefined;
  /** The first time after `start`. */
  getNextDateFrom(start: Date, zone?: string): { toMillis(): number };
}

/** How far `lastTime` looks back, ms: first 2 s, then eight times as far in each step, up to eight years. A short span has few times to search. */
const REACHES_MS = Array.from({ length: 10 }, (_, i) => 2_000 * 8 ** i);

/**
 * The last time of the schedule, at or before `at`; undefined if there is none. The package calls a job at its time or a little later. It
 * does not give the job that time, and can only compute times after a given one.
 */
export function lastTime(time: CronTimeLike, at: Date): Date | undefined {
  if (time.realDate) return new Date((time.source as { toMillis(): number }).toMillis());
  const zone = zoneOf(time);
  for (const reach of REACHES_MS) {
    const found = lastWithin(time, zone, at.getTime() - reach, at.getTime());
    if (found !== undefined) return new Date(found);
  }
  return undefined;
}

function lastWithin(time: CronTimeLike, zone: string | undefined, from: number, to: number): number | undefined {
  let last: number | undefined;
  for (let start = from; ; start = last) {
    const next = time.getNextDateFrom(new Date(start), zone).toMillis();
    if (next > to || next <= start) return last;
    last = next;
  }
}

/** The time zone in the package's own form. */
function zoneOf({ timeZone, utcOffset }: CronTimeLike): string | undefined {
  if (timeZone !== undefined || utcOffset === undefined) return timeZone;
  const hours = Math.trunc(utcOffset / 60);
  const two = (part: number): string => String(Math.abs(part)).padStart(2, '0');
  return `UTC${utcOffset < 0 ? '-' : '+'}${two(hours)}:${two(utcOffset - hours * 60)}`;
}
