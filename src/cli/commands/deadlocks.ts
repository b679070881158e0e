import { milliseconds } from '../../core/contract/duration.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { nameOf, recorded, words } from '../deadlocked.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { withProgress } from '../terminal/screen.ts';

export const deadlocks = command({
  name: 'deadlocks',
  summary: 'find processes that wait for each other for ever',
  takes: ['[prefix]'],
  options: { ...URL_OPTION, watch: { type: 'boolean' }, every: { type: 'string' }, json: { type: 'boolean' } },
  help: `Find deadlocks: who waits for whom, what each one holds, and what to do.

  holdfast deadlocks
  holdfast deadlocks order: --json
  holdfast deadlocks --watch                 print each deadlock when it appears, until ^C

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --watch          look again and again; print each deadlock once
  --every <time>   with --watch: how often, from 500ms (default 1s)
  --json           a line of JSON for each: { "at": ms since 1970, "cycle": ids, "victim": id or null, "claims": […] }

A deadlock is printed when two looks in a row have seen it. It is seen only where a function waits for one lock inside
run() of another. It is not seen where code holds a lease of acquire(), or waits behind others inside its own process.

Exit code: 0 no deadlock; 1 a deadlock, with --watch at any time; 69 the engine is not available, or cannot list locks.`,
  async run({ values, positionals: [prefix = ''] }) {
    const every = milliseconds(time(values.every ?? '1s', '--every'), '--every', { min: 500, max: 3_600_000 });
    const address = addressOf(values.url);
    await using locks = await open(address);
    using interruption = new Interruption();
    if (values.watch && !values.json) console.error(`Looking for deadlocks in ${sourceOf(address)}.`);
    let known = new Set<string>();
    let code: number = EXIT.OK;
    do {
      const looked = withProgress((progress) => locks.waits(prefix, { progress }));
      const waits = await Promise.race([looked, interruption.ended]);
      if (!waits) break;
      for (const deadlock of waits.deadlocks) {
        code = EXIT.NO;
        if (known.has(nameOf(deadlock))) continue;
        if (values.json) console.log(JSON.stringify({ at: Date.now(), ...recorded(deadlock, waits) }));
        else console.log(words(deadlock, waits).join('\n'));
      }
      known = new Set(waits.deadlocks.map(nameOf));
      if (values.watch) await interruption.pause(every);
    } while (values.watch && !interruption.signal.aborted);
    if (code === EXIT.OK && !values.json && !values.watch) console.log(`Found no deadlock in ${sourceOf(address)}.`);
    return code;
  },
});
