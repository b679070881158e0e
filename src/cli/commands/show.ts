import { command } from '../command.ts';
import { open, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { details, lineOf, records } from '../listing.ts';

export const show = command({
  name: 'show',
  summary: 'show the line of one key: its holders, then who waits',
  takes: ['<key>'],
  options: { ...URL_OPTION, json: { type: 'boolean' } },
  help: `Show the line of one key: its holders, then who waits, in the order in which they will have it.

  holdfast show order:42
  holdfast show order:42 --json

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a file of yours)
  --json           a line of JSON for each; tickets are text, times are ms

The ticket of a holder is the fencing token that its hold began with. AS tells mutexes and writers (exclusive) from
readers (shared) and permits (1 of 3).`,
  async run({ values, positionals: [key] }) {
    await using locks = await open(values.url);
    const line = await lineOf(locks, key!);
    if (line) console.log((values.json ? records([line]) : details(line)).join('\n'));
    else if (!values.json) console.error(`Nobody holds or waits for ${JSON.stringify(key)}.`);
    return EXIT.OK;
  },
});
