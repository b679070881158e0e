import { isUtf8 } from 'node:buffer';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { counted, isLockError, visible } from '../../../src/core/index.ts';
import type { MemoOptions, MemoResult, MemoRun } from '../../../src/index.ts';
import { memosOf } from '../../ui/memos.ts';
import { checkCommand, labelOf } from '../child/find.ts';
import { supervise } from '../child/supervise.ts';
import { type Timing, timeIfGiven, timing } from '../child/timing.ts';
import { type Command, command, split } from '../command.ts';
import { ANSWER_TIMEOUT_MS, addressOf, type EngineAddress, open, openWithin, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT, ExitError, messageOf, whole } from '../exit.ts';
import { Interruption, Trouble } from '../interruption.ts';
import { memoRecord } from '../listing.ts';
import { complain, withProgress } from '../terminal/screen.ts';
import { span, table } from '../terminal/table.ts';

/**
 * A file for the standard output of a command. Unlike a pipe, nobody has to read the file while the command runs, and processes that
 * the command leaves behind cannot break it. Only this user can read it.
 */
class Output implements Disposable {
  readonly descriptor: number;
  readonly #folder: string;
  readonly #path: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
    this.#path = join(this.#folder, 'output');
    this.descriptor = openSync(this.#path, 'wx', 0o600);
  }

  read(): Buffer {
    return readFileSync(this.#path);
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const HELP = `Run a command once, and print its output for all that ask for the same key.

  holdfast memo prices --keep 10m -- ./prices.sh              run it at most every ten minutes, on this machine
  holdfast memo -u redis://db1 v42 --keep 30d -- ./migrate.sh one of many machines migrates, and the others wait for it
  holdfast memo token --keep 1h --refresh 50m -- ./token.sh   one makes a new token, the others get the old one at once
  holdfast memo import --keep 1d --attempts 3 -- ./import.sh  after three failures it rests for an hour
  holdfast memo prices --keep 10m --forget -- ./prices.sh     forget what is kept, and run it now
  holdfast memo --list                                        what is kept, failed, poisoned or running
  holdfast memo --list order:                                 of keys that begin with order:
  holdfast memo forget prices                                 forget what is kept, a kept error and the attempts

  -u, --url <url>     the engine (default $HOLDFAST_URL, else a local file)
  --keep <time>       how long the output is kept (default 0: only for those that wait when it comes)
  --match <text>      what is asked for; another one under the same key is an error
  --attempts <n>      the number of runs without success, deaths included, after which it rests for an hour
  --refresh <time>    if the output is older, one makes a new one, and the others get the old one at once
  --wait <time>       how long to wait for the output of another (default forever)
  --ttl <time>        how long it takes until the others know that a machine is dead (default 30s)
  --grace <time>      time between SIGTERM and SIGKILL when the key is lost (default 5s, at most two thirds of the ttl)
  --forget            forget first what is kept
  --list              list memos by the beginning of their keys; never what they keep
  --json              with --list: a line of JSON for each; tokens are text, times are ms

A <time> is written as 250ms, 30s, 5m, 2h or 1d.

The standard output is kept, up to 64 KiB (bytes that are not UTF-8 take a third more), and printed when the command has
ended. The standard error is printed at once, and not kept. A command that fails keeps nothing: the next in line runs.
The command gets HOLDFAST_KEY and HOLDFAST_TOKEN in its environment; the token grows with every run.

Exit code: 0 if the output is kept, or was kept before; the command's own if it failed here; 128 + n if signal n ended
the command or the wait; 75 the --wait for another run is over, or the key rests after too many failures; 69 the engine
is not available, or the key was lost, or the output could not be kept; 64 wrong usage, or another --match; 127 the
command was not found; 126 it cannot be executed. Of forget: 0 something was forgotten; 1 nothing was there.`;

/** `holdfast memo --list [prefix]`: the states of memos, and never what they keep. */
const listMemos = command({
  name: 'memo',
  summary: '',
  takes: ['[prefix]'],
  options: { ...URL_OPTION, list: { type: 'boolean' }, json: { type: 'boolean' } },
  help: '',
  async run({ values, positionals: [prefix = ''] }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const found = await withProgress((progress) => memosOf(locks, prefix, { progress }));
    if (values.json) for (const [key, sight] of found) console.log(memoRecord(key, sight));
    else if (found.length > 0) console.log(rows(found).join('\n'));
    else console.error(`Nothing is kept of any memo${beginning(prefix)} in ${sourceOf(address)}.`);
    return EXIT.OK;
  },
});

const forgetMemo = command({
  name: 'memo',
  summary: '',
  takes: ['forget', '<key>'],
  options: URL_OPTION,
  help: '',
  async run({ values, positionals: [, key] }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const forgotten = await locks.memo(key!).forget();
    console.log(forgotten ? `Forgot what was kept of ${named(key!)}.` : nothing(key!, address));
    return forgotten ? EXIT.OK : EXIT.NO;
  },
});

function rows(found: Awaited<ReturnType<typeof memosOf>>): string[] {
  const rows = found.map(([key, { state, attempts, token, since, remaining }]) => [
    key,
    state,
    token === undefined ? '-' : `${token}`,
    since === undefined ? '-' : span(since),
    remaining === undefined ? '-' : span(remaining),
    attempts === 0 ? '-' : counted(attempts, 'time'),
  ]);
  return table(['KEY', 'STATE', 'TOKEN', 'AGE', 'GONE IN', 'BEGUN WITHOUT A RESULT'], rows);
}

const named = (key: string): string => visible(JSON.stringify(key));
const beginning = (prefix: string): string => prefix && ` whose key begins with ${named(prefix)}`;
const nothing = (key: string, address: EngineAddress): string =>
  `Nothing is kept of ${named(key)} in ${sourceOf(address)}.`;

const runMemo = command({
  name: 'memo',
  summary: 'run a command once, and print its output for all that ask',
  takes: ['<key>', '--', '<command>…'],
  options: {
    ...URL_OPTION,
    keep: { type: 'string' },
    match: { type: 'string' },
    attempts: { type: 'string' },
    refresh: { type: 'string' },
    wait: { type: 'string' },
    ttl: { type: 'string' },
    grace: { type: 'string' },
    forget: { type: 'boolean' },
  },
  help: HELP,
  async run({ values, positionals: [key], rest }) {
    const plan = timing(values.ttl, values.grace);
    const options: MemoOptions<Buffer> = {
      keep: timeIfGiven(values.keep, '--keep'),
      ...(values.match !== undefined && { match: values.match }),
      attempts: values.attempts === undefined ? undefined : whole(values.attempts, '--attempts', 1, 1_000_000),
      refresh: timeIfGiven(values.refresh, '--refresh'),
      wait: timeIfGiven(values.wait, '--wait'),
      ttl: plan.ttl,
      notice: plan.notice,
      label: labelOf(rest[0]!),
      encode: textOf,
      decode: bytesOf,
    };
    checkCommand(rest[0]!);
    using interruption = new Interruption();
    using trouble = new Trouble();
    const patience = { within: ANSWER_TIMEOUT_MS, onError: trouble.report };
    await using locks = await openWithin(addressOf(values.url), {}, interruption, patience);
    if (!locks) return interruption.exitCode!;
    const kept = locks.memo<Buffer>(key!, options);
    if (values.forget) await kept.forget();
    let own: Buffer | undefined;
    const work = async (run: MemoRun): Promise<Buffer> => {
      own = await outputOf(run, rest, plan);
      return own;
    };
    try {
      const result = await kept.run((run) => interruption.during(() => work(run)), { signal: interruption.signal });
      process.stdout.write(result.value);
      return report(key!, result);
    } catch (error) {
      if (!own || !isLockError(error, 'LOCK_TOO_LARGE')) return interruption.exitCodeAfter(error);
      process.stdout.write(own); // the command ran, and nobody else could print its output
      return report(key!, { kept: false, error });
    }
  },
});

export const memo: Command = {
  ...runMemo,
  options: { ...runMemo.options, ...listMemos.options },
  run(args) {
    const [own, rest] = split(args);
    if (own.includes('--list')) return listMemos.run(args);
    // If a command to run follows, `forget` is a key like any other.
    return (own.includes('forget') && own.length > 1 && rest.length === 0 ? forgetMemo : runMemo).run(args);
  },
};

/** Runs the command and gives its output. @throws ExitError if it fails, after its output was printed */
async function outputOf(run: MemoRun, words: readonly string[], plan: Timing): Promise<Buffer> {
  using output = new Output();
  const own = { HOLDFAST_KEY: run.key, HOLDFAST_TOKEN: `${run.token}` };
  const code = await supervise(run, words, own, plan, { out: output.descriptor });
  const bytes = output.read();
  if (code === EXIT.OK) return bytes;
  process.stdout.write(bytes);
  throw new ExitError(code, `the command ended with ${code}`);
}

function report(key: string, { kept, error }: Pick<MemoResult<Buffer>, 'kept' | 'error'>): number {
  if (kept === true) return EXIT.OK;
  const why = kept === 'unknown' ? 'nobody knows whether its output is kept' : 'its output is not kept';
  complain(`the command succeeded, but ${why} under ${JSON.stringify(key)}${error ? `: ${messageOf(error)}` : ''}`);
  return EXIT.UNAVAILABLE;
}

/** Writes bytes as text. Its first letter says how: `t` is UTF-8, `b` is base64. */
const textOf = (bytes: Buffer): string => (isUtf8(bytes) ? `t${bytes.toString()}` : `b${bytes.toString('base64')}`);

const bytesOf = (text: string): Buffer => Buffer.from(text.slice(1), text[0] === 'b' ? 'base64' : 'utf8');
