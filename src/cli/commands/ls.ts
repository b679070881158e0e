import { command } from '../command.ts';
import { addressOf, open, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { linesOf, nobody, overview, records } from '../listing.ts';
import { withProgress } from '../terminal/screen.ts';

export const ls = command({
  name: 'ls',
  summary: 'list who holds what, and how many wait',
  takes: ['[prefix]'],
  options: { ...URL_OPTION, json: { type: 'boolean' } },
  help: `List who holds what, and how many wait.

  holdfast ls                            every key
  holdfast ls order:                     keys that begin with order:
  holdfast ls --json | jq 'select(.held)'

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --json           a line of JSON for each holder and waiter; tokens are text, times are ms

EXPIRES IN is the time after which the key is free, unless its holder renews it. WAITING counts one for each process:
further callers wait inside it.`,
  async run({ values, positionals: [prefix = ''] }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const lines = await withProgress((progress) => linesOf(locks.inspect(prefix, { progress })));
    if (lines.length > 0) console.log((values.json ? records(lines) : overview(lines)).join('\n'));
    else if (!values.json) console.error(nobody(prefix, address));
    return EXIT.OK;
  },
});
