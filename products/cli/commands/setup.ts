import { setupScriptOf } from '../../../src/connect/open.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError } from '../exit.ts';

export const setup = command({
  name: 'setup',
  summary: 'make what this engine needs, or print the SQL for it',
  takes: [],
  options: { ...URL_OPTION, print: { type: 'boolean' } },
  help: `Make what this engine needs: tables and functions, where it has any. The first use makes them too, if its role may.

  holdfast setup --url postgres://owner@db1/app
  holdfast setup --url 'postgres://db1/app?schema=locks' --print > migration.sql

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --print          print the SQL for a migration of your own, and ask no server (PostgreSQL)

Exit code: 0 it is there; 69 the engine is not available, or the role may not make it.`,
  async run({ values }) {
    const address = addressOf(values.url);
    if (values.print) {
      const script = await setupScriptOf(address.url);
      if (script === undefined) throw new UsageError('only PostgreSQL has SQL to print; leave out --print');
      console.log(script);
      return EXIT.OK;
    }
    await using locks = await open(address);
    await locks.check();
    console.log(`All that locks need is there in ${sourceOf(address)}.`);
    return EXIT.OK;
  },
});
