import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { redacted } from '../../../src/connect/url.ts';
import { counted, milliseconds, visible } from '../../../src/core/index.ts';
import type { Event } from '../../torture/events.ts';
import type { Progress } from '../../torture/torture.ts';
import type { FaultCount, Verdict, Violation } from '../../torture/verdict.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError, whole } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { complain } from '../terminal/screen.ts';

const PROMISES: Readonly<Record<Violation['broken'], string>> = {
  exclusion: 'two held a key at once that only one may hold, or more permits were held than there are',
  tokens: 'a fencing token was not higher than an earlier one',
  register: 'a late write was accepted, or the write of a holder was refused',
  starvation: 'a key was free and somebody waited for it, but nobody got it',
  'wake-ups': 'waiters were not woken when a key became free',
  renewal: 'a hold was lost while the event loop was blocked, although a thread renews it',
  residue: 'a key was still held after its lease had expired and its process had ended',
  crash: 'a process ended, although nobody ended it',
  hang: 'a process did not end when it was asked to, although the engine answered',
};
/** How many violations of a kind we show, so that all kinds fit the first screen. */
const MAX_SHOWN = 3;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const count = (number: number): string => number.toLocaleString('en');

export function progressLine({ ran, totals, faults, broken }: Progress): string {
  const kinds = Object.entries(faults).map(([kind, { effective }]) => `${kind} ${effective}`);
  const parts = [
    `${Math.round(ran / 1_000)}s`.padStart(5),
    counted(totals.holds, 'hold'),
    `longest wait ${seconds(totals.longestWait)}`,
    kinds.length > 0 ? `faults: ${kinds.join(', ')}` : 'no faults yet',
  ];
  const wrong = Object.keys(broken);
  return `${parts.join('  ')}${wrong.length > 0 ? `  BROKEN: ${wrong.join(', ')}` : ''}`;
}

export function words(verdict: Verdict & { readonly again: string }): string[] {
  const { totals, faults, overslept, staleWrites, staleRefused, notes, again } = verdict;
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  return [
    ...headline(verdict),
    '',
    `  ${count(totals.holds)} of ${counted(totals.wishes, 'request')} got a lock, ${count(totals.underFaults)} of them under faults, in ${seconds(verdict.ran)}`,
    `  ${counted(effective, 'fault')} hit something: ${faultList(faults)}`,
    `  ${counted(overslept, 'holder was stopped for longer than its lease', 'holders were stopped for longer than their leases')}`,
    `  ${counted(staleWrites, 'write')} came late, after the next hold had begun; the fencing token refused ${count(staleRefused)} of them`,
    `  longest wait ${seconds(totals.longestWait)}; without a fault, ${counted(totals.handOvers, 'free key got its', 'free keys got their')} next holder within ${Math.ceil(totals.longestHandOver)} ms`,
    ...notes.map((note) => `  note: ${note}`),
    '',
    `To repeat: ${again}`,
  ];
}

function headline({ outcome, ended, engine, broken, violations, missing }: Verdict): string[] {
  const so = {
    time: '',
    broken: '',
    interrupted: ' It was interrupted.',
    'server gone': ' The server stopped answering, and did not come back.',
  }[ended];
  if (outcome === 'broken') {
    return [
      `BROKEN on ${engine}.${so}`,
      ...Object.entries(broken).flatMap(([kind, times]) => [
        `  ${PROMISES[kind as Violation['broken']]} (${times})`,
        ...violations
          .filter((violation) => violation.broken === kind)
          .slice(0, MAX_SHOWN)
          .map(({ message }) => `    ${visible(message)}`),
      ]),
    ];
  }
  if (outcome === 'nothing')
    return [`This proves nothing about ${engine}.${so}`, ...missing.map((what) => `  only ${what}`)];
  return [`Kept on ${engine}: no promise was broken under these faults.${so}`];
}

const faultList = (faults: Readonly<Record<string, FaultCount>>): string =>
  Object.entries(faults)
    .map(([kind, { effective, done }]) => `${kind} ${effective} of ${done}`)
    .join(', ') || 'none';

export const torture = command({
  name: 'torture',
  summary: 'test whether locks on this engine keep their promises under faults',
  takes: [],
  options: {
    ...URL_OPTION,
    for: { type: 'string' },
    seed: { type: 'string' },
    processes: { type: 'string' },
    'beside-others': { type: 'boolean' },
    renewal: { type: 'string' },
    history: { type: 'string' },
    json: { type: 'boolean' },
  },
  help: `Test whether locks on this engine keep their promises while clients and connections fail.

  holdfast torture --url redis://test-db --for 10m
  holdfast torture --url postgres://app@test-db/app --json > verdict.json
  holdfast torture --seed 42                           repeat the same faults

It starts processes that take locks under keys of their own. It kills these processes, stops them for longer than their
leases, and keeps them busy; it delays, stalls and cuts their connections, also in the middle of a message. A referee
without faults judges the outcome. It does nothing to the server itself, but the load is high: use a server that nobody
else needs.

  -u, --url <url>   the engine (default $HOLDFAST_URL, else a local file)
  --for <time>      how long, from 5s (default 1m); a broken promise ends the run early
  --seed <number>   the seed of the faults (default: a random one, which is printed)
  --processes <n>   number of processes, 2 to 16 (default 4)
  --beside-others   run even if others have locks on the server; they may have to wait longer
  --renewal worker  a thread of each process renews while its event loop is blocked: then no hold is lost to that
  --history <file>  write every event to this file, as a line of JSON
  --json            print the verdict as JSON

Exit code: 0 every promise was kept, and enough faults hit something; 1 a promise was broken; 2 too little happened to
prove anything; 69 the engine is not available, or went away and did not come back. ^C ends the run and prints the
verdict.`,
  async run({ values }) {
    const duration = milliseconds(time(values.for ?? '1m', '--for'), '--for', { min: 5_000, max: 7 * 86_400_000 });
    const seed = whole(values.seed ?? `${randomInt(2 ** 31)}`, '--seed', 0, 2 ** 31 - 1);
    const processes = whole(values.processes ?? '4', '--processes', 2, 16);
    if (process.platform === 'win32')
      throw new UsageError('torture stops processes with signals, and Windows has none');
    const { renewal } = values;
    if (renewal !== undefined && renewal !== 'worker')
      throw new UsageError(`--renewal takes worker, not ${JSON.stringify(renewal)}`);
    const { url } = addressOf(values.url);
    const { torture: begin } = await import('../../torture/torture.ts');
    using interruption = new Interruption();
    using history = values.history === undefined ? undefined : new HistoryFile(values.history);
    await history?.opened;
    const again = `holdfast torture --url '${redacted(url)}' --for ${values.for ?? '1m'} --processes ${processes} --seed ${seed}${renewal ? ` --renewal ${renewal}` : ''}`;
    console.error(`Seed ${seed}. To repeat the same faults: ${again}`);
    const verdict = await begin({
      ...{ url, duration, seed, processes, renewal, signal: interruption.signal },
      besideOthers: values['beside-others'] ?? false,
      progress: (so) => console.error(progressLine(so)),
      ...(history && { onEvent: (event: Event) => history.write(JSON.stringify(event)) }),
    });
    const result = { ...verdict, again };
    console.log(values.json ? JSON.stringify(result, undefined, 2) : words(result).join('\n'));
    return exitCodeOf(verdict);
  },
});

function exitCodeOf({ outcome, ended }: Verdict): number {
  if (outcome === 'broken') return EXIT.NO;
  if (ended === 'server gone') return EXIT.UNAVAILABLE;
  return outcome === 'kept' ? EXIT.OK : EXIT.UNPROVEN;
}

/** A full disk ends the history, but not the run. */
class HistoryFile implements Disposable {
  readonly #stream: ReturnType<typeof createWriteStream>;
  readonly opened: Promise<unknown>;
  #failed = false;

  constructor(path: string) {
    this.#stream = createWriteStream(path);
    this.opened = once(this.#stream, 'open').catch((error: Error) => {
      throw new UsageError(`the --history file cannot be written: ${error.message}`);
    });
    this.#stream.on('error', (error) => {
      if (!this.#failed) complain(`the history is not complete: ${error.message}`);
      this.#failed = true;
    });
  }

  write(line: string): void {
    if (!this.#failed) this.#stream.write(`${line}\n`);
  }

  [Symbol.dispose](): void {
    this.#stream.end();
  }
}
