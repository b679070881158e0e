import { visible } from '../../core/contract/visible.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { details, findLine, findMemo, memoLine, memoRecord, records } from '../listing.ts';

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
    const line = await findLine(locks, key!);
    const memo = await findMemo(locks, key!, line);
    if (line) console.log((values.json ? records([line]) : details(line)).join('\n'));
    if (memo) console.log(values.json ? memoRecord(key!, memo) : memoLine(memo));
    else if (!line && !values.json)
      console.error(`Nobody holds or waits for ${visible(JSON.stringify(key))} in ${sourceOf(address)}.`);
    return EXIT.OK;
  },
});
