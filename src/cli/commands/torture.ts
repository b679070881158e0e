import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { redacted } from '../../connect/url.ts';
import { milliseconds } from '../../core/contract/duration.ts';
import type { Verdict } from '../../torture/verdict.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError, whole } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { complain } from '../terminal/screen.ts';
import { progressLine, words } from '../torture/words.ts';

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
      write: (line) => history?.write(line),
    });
    const told = { ...verdict, again };
    console.log(values.json ? JSON.stringify(told, undefined, 2) : words(told).join('\n'));
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
