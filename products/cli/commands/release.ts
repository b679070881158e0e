import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { visible } from '../../../src/core/index.ts';
import type { Locks, QueueEntry } from '../../../src/index.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError } from '../exit.ts';
import { details, findView } from '../listing.ts';

export const release = command({
  name: 'release',
  summary: 'take a lock away from its holder',
  takes: ['<key>'],
  options: {
    ...URL_OPTION,
    force: { type: 'boolean' },
    reason: { type: 'string' },
    token: { type: 'string' },
    yes: { type: 'boolean', short: 'y' },
  },
  help: `Take a lock away from its holder, when you know that the holder is gone or stuck.

  holdfast release --force order:42 --reason 'the worker hangs'
  holdfast release --force crawl --token 7 --reason 'only this one'   the holder that "show" lists with token 7
  holdfast release --force order:42 --reason 'nightly clean-up' --yes  without asking, for scripts

  -u, --url <url>    the engine (default $HOLDFAST_URL, else a local file)
  --force            required, because the holder may still be working
  --reason <text>    required: why you do it; the evicted holder gets it, where the engine keeps notes
  --token <number>  evict only the holder with this token (default: all holders, readers and permits too)
  -y, --yes          do not ask

The evicted holder learns of it at its next contact with the engine. Until then, only a resource that checks the fencing
token refuses its writes.

Exit code: 0 a holder was evicted; 1 none was; 69 the engine is not available; 64 wrong usage.`,
  async run({ values: { url, force, reason, token, yes }, positionals: [key] }) {
    if (!force) throw new UsageError('release needs --force');
    if (!reason) throw new UsageError('release needs --reason');
    if (token !== undefined && !/^\d+$/.test(token))
      throw new UsageError(`--token is ${JSON.stringify(token)}, not a number`);
    const address = addressOf(url);
    await using locks = await open(address);
    const wanted = token === undefined ? undefined : BigInt(token);
    const hit = yes ? [wanted] : await askToRelease(locks, key!, wanted);
    if (!hit) return EXIT.NO;
    let evicted = 0;
    for (const each of hit) evicted += await locks.forceRelease(key!, { reason, token: each });
    console.log(
      evicted === 0
        ? `Nobody held it in ${sourceOf(address)}.`
        : `Evicted ${evicted === 1 ? 'one holder' : `${evicted} holders`}: ${visible(reason)}`,
    );
    return evicted === 0 ? EXIT.NO : EXIT.OK;
  },
});

/** Shows the holders and asks. Gives the tokens of these holders only: the user did not agree to evict a later one. */
async function askToRelease(locks: Locks, key: string, token: bigint | undefined): Promise<bigint[] | undefined> {
  if (!process.stdin.isTTY) throw new UsageError('release asks first, and there is no terminal to ask on; add --yes');
  const hit = (entry: QueueEntry): boolean => token === undefined || entry.token === token;
  const line = await findView(locks, key);
  const holders = line?.holders.filter(hit) ?? [];
  if (holders.length === 0) return [];
  console.log(details({ key, holders, waiters: [] }).join('\n'));
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await Promise.race([
      terminal.question('The holders listed above may still be working. Take the lock away? [y/N] ').catch(() => ''),
      once(terminal, 'close').then(() => ''), // ^C and ^D: in Node 22 they leave a question without an answer
    ]);
    return /^y(es)?$/i.test(answer.trim()) ? holders.map((holder) => holder.token) : undefined;
  } finally {
    terminal.close();
  }
}
