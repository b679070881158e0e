import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { redacted } from '../../connect/url.ts';
import { milliseconds } from '../../core/duration.ts';
import type { Verdict } from '../../torture/verdict.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { URL_OPTION, urlOf } from '../engine.ts';
import { EXIT, UsageError, whole } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { complain } from '../terminal/say.ts';
import { progressLine, words } from '../torture/words.ts';

export const torture = command({
  name: 'torture',
  summary: 'see whether locks on this engine keep their promises under faults',
  takes: [],
  options: {
    ...URL_OPTION,
    for: { type: 'string' },
    seed: { type: 'string' },
    processes: { type: 'string' },
    'beside-others': { type: 'boolean' },
    history: { type: 'string' },
    json: { type: 'boolean' },
  },
  help: `See whether locks on this engine keep their promises while everything goes wrong on our side of it.

  holdfast torture --url redis://test-db --for 10m
  holdfast torture --url postgres://app@test-db/app --json > verdict.json
  holdfast torture --seed 42                           the same faults again

Processes of its own want locks of its own. They are killed, stopped beyond their leases and kept busy; their
connections are delayed, stalled, cut and halved. A referee that nothing is done to judges what they got. The server
itself is left alone, but it has work: use one that nobody needs just now.

  -u, --url <url>   the engine (default $HOLDFAST_URL, else a file of yours)
  --for <time>      how long, from 5s (default 1m); it ends early where a promise is broken
  --seed <number>   of the faults (default: one of chance, which is printed)
  --processes <n>   2 to 16 (default 4)
  --beside-others   also where others have locks, which may have to wait longer then
  --history <file>  every event as a line of JSON
  --json            the verdict as JSON

Exit code: 0 every promise was kept, under faults that hit something; 1 one was broken; 2 too little happened to prove
anything; 69 the engine is not available, or went away for good. ^C ends it with the verdict so far.`,
  async run({ values }) {
    const duration = milliseconds(time(values.for ?? '1m'), '--for', { min: 5_000, max: 7 * 86_400_000 });
    const seed = whole(values.seed ?? `${randomInt(2 ** 31)}`, '--seed', 0, 2 ** 31 - 1);
    const processes = whole(values.processes ?? '4', '--processes', 2, 16);
    if (process.platform === 'win32')
      throw new UsageError('torture stops processes by signals, which Windows does not have');
    const url = urlOf(values.url);
    const { torture: begin } = await import('../../torture/torture.ts');
    using interruption = new Interruption();
    using history = values.history === undefined ? undefined : new HistoryFile(values.history);
    await history?.opened;
    const again = `holdfast torture --url '${redacted(url)}' --for ${values.for ?? '1m'} --processes ${processes} --seed ${seed}`;
    console.error(`Seed ${seed}. The same faults again: ${again}`);
    const verdict = await begin({
      ...{ url, duration, seed, processes, signal: interruption.signal },
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
      throw new UsageError(`--history cannot be written: ${error.message}`);
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
