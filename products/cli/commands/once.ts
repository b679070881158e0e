import { inWords, MAX_DURATION_MS, milliseconds } from '../../../src/core/index.ts';
import type { OnceOptions, OnceResult, TickRun } from '../../../src/index.ts';
import { checkCommand, labelOf } from '../child/find.ts';
import { supervise } from '../child/supervise.ts';
import { time, timing } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, openWithin, URL_OPTION } from '../engine.ts';
import { EXIT, ExitError, UsageError } from '../exit.ts';
import { Interruption, Trouble } from '../interruption.ts';
import { complain } from '../terminal/screen.ts';
import { span } from '../terminal/table.ts';

const HELP = `Run a command for a tick of a schedule, on one of many machines. For a crontab that all of them have.

  0 3 * * *    holdfast once -u redis://db1 backup --tick 1h -- ./backup.sh     once a night
  */5 * * * *  holdfast once -u redis://db1 feed --tick 5m -- ./feed.sh         every five minutes
  holdfast once import --tick 2026-05-04T03:00:00Z -- ./import.sh               a tick that another program chose
  holdfast once feed --tick 5m --retry -- ./feed.sh       another machine takes over if the first one dies or fails
  holdfast once feed --tick 5m --overlap skip -- ./feed.sh       skip this tick while an earlier one still runs

  -u, --url <url>     the engine (default $HOLDFAST_URL, else a local file)
  --tick <time>       a period, at most 1d, to which the time of now is rounded down in UTC; or a time with a zone
  --within <time>     how late a machine may be to run the tick (default 1m)
  --skew <time>       how much the clocks of two machines may differ (default 1s)
  --retry             the other machines wait, and one of them runs the tick if the first one dies or fails
  --overlap <what>    while an earlier tick still runs: allow (the default), skip, or queue
  --ttl <time>        how long it takes until the others know that a machine is dead (default 30s)
  --grace <time>      time between SIGTERM and SIGKILL when the lock is lost (default 5s, at most two thirds of the ttl)

A <time> is written as 250ms, 30s, 5m, 2h or 1d.

For --tick, choose the longest period whose multiples include every time of the schedule. A machine that is more than
one period late runs the next tick instead. A machine that is early by no more than --skew runs the tick that is about
to come. The command gets HOLDFAST_KEY, HOLDFAST_TICK and HOLDFAST_TOKEN in its environment; the token grows with every
run of the tick.

Exit code: the command's own; 0 also if another machine runs or ran the tick, or if --overlap skipped it; 128 + n if
signal n ended the command or the wait; 75 the tick is late or early; 69 the engine is not available, or the lock was
lost or it is unknown whether the run was recorded, although the command exited with 0; 64 wrong usage; 127 the command
was not found; 126 it cannot be executed.`;

export const once = command({
  name: 'once',
  summary: 'run a command once per tick, on one of many machines',
  takes: ['<name>', '--', '<command>…'],
  options: {
    ...URL_OPTION,
    tick: { type: 'string' },
    within: { type: 'string' },
    skew: { type: 'string' },
    retry: { type: 'boolean' },
    overlap: { type: 'string' },
    ttl: { type: 'string' },
    grace: { type: 'string' },
  },
  help: HELP,
  async run({ values, positionals: [name], rest }) {
    const now = Date.now();
    if (values.tick === undefined) throw new UsageError('--tick is missing');
    const plan = timing(values.ttl, values.grace);
    const skew = milliseconds(time(values.skew ?? '1s', '--skew'), '--skew');
    const tick = tickAt(values.tick, skew, now);
    checkCommand(rest[0]!);
    const within = milliseconds(time(values.within ?? '1m', '--within'), '--within', { min: 1, max: MAX_DURATION_MS });
    using interruption = new Interruption();
    using trouble = new Trouble();
    const young = Math.min(MAX_DURATION_MS, Math.max(0, dueAt(tick) + within - now || 0));
    // Cron mails what we print, and a trouble that passed would only be noise.
    const patience = { within: young, onError: process.stderr.isTTY ? trouble.report : undefined };
    await using locks = await openWithin(addressOf(values.url), {}, interruption, patience);
    if (!locks) return interruption.exitCode!;
    const options: OnceOptions = {
      within,
      skew,
      retry: values.retry,
      overlap: values.overlap as OnceOptions['overlap'],
      ttl: plan.ttl,
      notice: plan.notice,
      label: labelOf(rest[0]!),
      signal: interruption.signal,
    };
    const work = async (run: TickRun): Promise<void> => {
      const { exitCode } = interruption;
      if (exitCode !== undefined) throw new ExitError(exitCode, 'a signal came before the command began');
      const own = { HOLDFAST_KEY: name, HOLDFAST_TICK: run.tick.toISOString(), HOLDFAST_TOKEN: `${run.token}` };
      const code = await supervise(run, rest, own, plan);
      // The command failed: with `--retry` another machine runs the tick.
      if (code !== EXIT.OK) throw new ExitError(code, `the command ended with ${code}`);
    };
    try {
      const result = await locks.once(name!, tick, (run) => interruption.during(() => work(run)), options);
      return report(name!, dueAt(tick), result);
    } catch (error) {
      return interruption.exitCodeAfter(error);
    }
  },
});

/** Why a tick did not run here, though the clock is right. */
const WHY = {
  overlap: 'is skipped, because an earlier one still runs',
  failed: 'failed on another machine',
  taken: 'runs or ran on another machine',
  done: 'runs or ran on another machine',
} as const;

/** Prints what became of the tick. @param due when it was due, ms since 1970 @returns the exit code */
function report(name: string, due: number, result: OnceResult<void>): number {
  if (result.ran && result.recorded) return EXIT.OK;
  const tick = `the tick ${new Date(due).toISOString()} of ${JSON.stringify(name)}`;
  if (result.ran) {
    complain(`the command succeeded, but it is unknown whether that was recorded: ${tick} may run again`);
    return EXIT.UNAVAILABLE;
  }
  const by = result.by === undefined ? '' : ` (${result.by})`;
  if (result.reason === 'late' || result.reason === 'early') {
    complain(
      `${tick} is ${span(Math.abs(Date.now() - due))} ${result.reason} by the clock of this machine, and does not run here (see --within and --skew)`,
    );
    return EXIT.TEMPFAIL;
  }
  // Nothing is wrong. Cron would send a mail with the text, but a person at a terminal wants to know.
  if (process.stderr.isTTY) complain(`${tick} ${WHY[result.reason]}${by}`);
  return EXIT.OK;
}

/** When a tick is due, ms since 1970. NaN for text that is no time; `once` refuses such text. */
const dueAt = (tick: number | string): number => (typeof tick === 'number' ? tick : Date.parse(tick));

const DAY_MS = 86_400_000;

/**
 * The tick that `--tick` means now: the time itself, or the last multiple of a period since 1970, in UTC. A machine that is
 * early by no more than `skew` means the tick that is about to come.
 * @throws UsageError for a period that is too short for the skew; LockError `LOCK_INVALID`
 */
export function tickAt(text: string, skew: number, now: number): number | string {
  if (/^\d{4}-/.test(text)) return text;
  const period = milliseconds(time(text, '--tick'), '--tick', { min: 1_000, max: DAY_MS });
  if (period < 2 * skew)
    throw new UsageError(`--tick is ${text}; it must be at least ${inWords(2 * skew)}, which is twice --skew`);
  return Math.floor((now + skew) / period) * period;
}
