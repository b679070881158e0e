import { milliseconds, visible } from '../../../src/core/index.ts';
import { memoAt } from '../../ui/memos.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT, messageOf, UsageError } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { byAge, details, findView, memoRecord, memoText, nobody, overview, records, viewsOf } from '../listing.ts';
import { Screen, withProgress } from '../terminal/screen.ts';

export const ls = command({
  name: 'ls',
  summary: 'list who holds what, and how many wait',
  takes: ['[prefix]'],
  options: { ...URL_OPTION, sort: { type: 'string' }, json: { type: 'boolean' } },
  help: `List who holds what, and how many wait.

  holdfast ls                            every key
  holdfast ls order:                     keys that begin with order:
  holdfast ls --sort age                 the oldest holds first
  holdfast ls --json | jq 'select(.held)'

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --sort <what>    key (the default) or age
  --json           a line of JSON for each holder and waiter; tokens are text, times are ms

SINCE is how long ago the holder asked for the key, by the engine's clock: a wait may be in it. It is - where the engine
does not keep that. EXPIRES IN is the time after which the key is free, unless its holder renews it. WAITING counts one
for each process: further callers wait inside it.`,
  async run({ values, positionals: [prefix = ''] }) {
    const { sort = 'key' } = values;
    if (sort !== 'key' && sort !== 'age') throw new UsageError(`--sort takes key or age, not ${JSON.stringify(sort)}`);
    const address = addressOf(values.url);
    await using locks = await open(address);
    const lines = await withProgress((progress) => viewsOf(locks.inspect(prefix, { progress })));
    if (sort === 'age') lines.sort(byAge);
    if (lines.length > 0) console.log((values.json ? records(lines) : overview(lines)).join('\n'));
    else if (!values.json) console.error(nobody(prefix, address));
    return EXIT.OK;
  },
});

export const show = command({
  name: 'show',
  summary: 'show one key: its holders, then its waiters in order',
  takes: ['<key>'],
  options: { ...URL_OPTION, json: { type: 'boolean' } },
  help: `Show one key: its holders, then its waiters, in the order in which they will get it.

  holdfast show order:42
  holdfast show order:42 --json

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --json           a line of JSON for each holder and waiter; tokens are text, times are ms

TOKEN is the fencing token with which the hold began. AS is exclusive for mutexes and writers, shared for readers, and
for example 1 of 3 for permits. Of a memo a last line says its state, but not what it keeps.`,
  async run({ values, positionals: [key] }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const line = await findView(locks, key!);
    const memo = await memoAt(locks, key!, (line?.holders.length ?? 0) > 0);
    if (line) console.log((values.json ? records([line]) : details(line)).join('\n'));
    if (memo) console.log(values.json ? memoRecord(key!, memo) : memoText(memo));
    else if (!line && !values.json)
      console.error(`Nobody holds or waits for ${visible(JSON.stringify(key))} in ${sourceOf(address)}.`);
    return EXIT.OK;
  },
});

export const watch = command({
  name: 'watch',
  summary: 'show the same as ls, live',
  takes: ['[prefix]'],
  options: { ...URL_OPTION, every: { type: 'string' }, json: { type: 'boolean' } },
  help: `Show who holds what, live, until ^C. Lines that do not fit the terminal are only counted.

  holdfast watch
  holdfast watch order: --every 200ms
  holdfast watch --json >> locks.jsonl

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --every <time>   how often to look, from 100ms (default 1s)
  --json           a line of JSON for each look: { "at": ms since 1970, "entries": […] }

Each look reads every key from the engine. With many keys on a busy server, choose a longer --every.`,
  async run({ values, positionals: [prefix = ''] }) {
    const every = milliseconds(time(values.every ?? '1s', '--every'), '--every', { min: 100, max: 3_600_000 });
    const address = addressOf(values.url);
    await using locks = await open(address);
    using interruption = new Interruption();
    using screen = values.json ? undefined : new Screen();
    while (!interruption.signal.aborted) {
      try {
        const looked = withProgress((progress) => viewsOf(locks.inspect(prefix, { progress })));
        const lines = await Promise.race([looked, interruption.ended]);
        if (!lines) break;
        if (screen) screen.show((width) => (lines.length > 0 ? overview(lines, width) : [nobody(prefix, address)]));
        else console.log(`{"at":${Date.now()},"entries":[${records(lines).join()}]}`);
      } catch (error) {
        if (!screen) throw error;
        screen.show(() => [visible(messageOf(error))]); // the engine may be back at the next look
      }
      await interruption.pause(every);
    }
    return EXIT.OK;
  },
});
