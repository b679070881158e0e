import { visible } from '../../../src/core/index.ts';
import type { Incumbent } from '../../../src/index.ts';
import { timeIfGiven } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { Interruption, Trouble } from '../interruption.ts';

export const who = command({
  name: 'who',
  summary: 'show who leads; with --follow, each change too',
  takes: ['<name>'],
  options: {
    ...URL_OPTION,
    follow: { type: 'boolean', short: 'f' },
    every: { type: 'string' },
    json: { type: 'boolean' },
  },
  help: `Show who leads: the label of the leader, and the token of its term.

  holdfast who scheduler
  holdfast who scheduler --follow
  holdfast who scheduler --json | jq -r .label

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  -f, --follow     print a line now and for each change, until ^C
  --every <time>   how often to look, from 50ms (default 1s)
  --json           a line of JSON: { "at": ms since 1970, "label", "token": text, "since": ms }, null if nobody leads

A leader that came and went between two looks is not seen.

Exit code: 0 somebody leads; 1 nobody leads; 69 the engine is not available. With --follow: 0 after ^C.`,
  async run({ values, positionals: [name] }) {
    const print = (incumbent: Incumbent | null): void => console.log(values.json ? record(incumbent) : line(incumbent));
    const address = addressOf(values.url);
    await using locks = await open(address);
    const leader = locks.leader(name!);
    if (!values.follow) {
      const incumbent = await leader.current();
      if (incumbent || values.json) print(incumbent);
      else console.error(`Nobody leads ${visible(JSON.stringify(name))} in ${sourceOf(address)}.`);
      return incumbent ? EXIT.OK : EXIT.NO;
    }
    if (!values.json) console.error(`Looking at ${visible(JSON.stringify(name))} in ${sourceOf(address)}.`);
    using ended = new Interruption();
    using trouble = new Trouble('holdfast:observation-failed');
    const every = timeIfGiven(values.every, '--every');
    for await (const incumbent of leader.observe({ signal: ended.signal, every })) {
      trouble.over();
      print(incumbent);
    }
    return EXIT.OK;
  },
});

const line = (incumbent: Incumbent | null): string =>
  incumbent ? `${visible(incumbent.label)}  token ${incumbent.token}` : 'nobody';

/** Tokens are text: they may be larger than a number can be. */
function record(incumbent: Incumbent | null): string {
  const { label = null, token, since } = incumbent ?? {};
  return JSON.stringify({
    at: Date.now(),
    label,
    token: token === undefined ? null : `${token}`,
    since: since === undefined ? null : Math.round(since),
  });
}
