import { milliseconds } from '../../core/contract/duration.ts';
import { visible } from '../../core/contract/visible.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, open, URL_OPTION } from '../engine.ts';
import { EXIT, messageOf } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { linesOf, nobody, overview, records } from '../listing.ts';
import { Screen, withProgress } from '../terminal/screen.ts';

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
  --json           a line of JSON for each look: { "at": ms since 1970, "standings": […] }

Each look reads every key from the engine. With many keys on a busy server, choose a longer --every.`,
  async run({ values, positionals: [prefix = ''] }) {
    const every = milliseconds(time(values.every ?? '1s', '--every'), '--every', { min: 100, max: 3_600_000 });
    const address = addressOf(values.url);
    await using locks = await open(address);
    using interruption = new Interruption();
    using screen = values.json ? undefined : new Screen();
    while (!interruption.signal.aborted) {
      try {
        const looked = withProgress((progress) => linesOf(locks.inspect(prefix, { progress })));
        const lines = await Promise.race([looked, interruption.ended]);
        if (!lines) break;
        if (screen) screen.show((width) => (lines.length > 0 ? overview(lines, width) : [nobody(prefix, address)]));
        else console.log(`{"at":${Date.now()},"standings":[${records(lines).join()}]}`);
      } catch (error) {
        if (!screen) throw error;
        screen.show(() => [visible(messageOf(error))]); // the engine may be back at the next look
      }
      await interruption.pause(every);
    }
    return EXIT.OK;
  },
});
