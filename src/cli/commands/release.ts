import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Locks, Standing } from '../../index.ts';
import { command } from '../command.ts';
import { open, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError } from '../exit.ts';
import { details, lineOf } from '../listing.ts';

export const release = command({
  name: 'release',
  summary: 'take a lock away from who holds it',
  takes: ['<key>'],
  options: {
    ...URL_OPTION,
    force: { type: 'boolean' },
    reason: { type: 'string' },
    ticket: { type: 'string' },
    yes: { type: 'boolean', short: 'y' },
  },
  help: `Take a lock away from who holds it, when you know that the holder is gone or stuck.

  holdfast release --force order:42 --reason 'the worker hangs'
  holdfast release --force crawl --ticket 7 --reason 'only this one'   the holder that "show" lists with ticket 7
  holdfast release --force order:42 --reason 'nightly clean-up' --yes  without asking, for scripts

  -u, --url <url>    the engine (default $HOLDFAST_URL, else a file of yours)
  --force            required: this is never harmless
  --reason <text>    required: why
  --ticket <number>  only the holder with this ticket; otherwise every holder, readers and permits too
  -y, --yes          do not ask

Who is robbed is told at its next contact with the engine. What it writes until then is only refused by resources that
check the fencing token. Exit code: 0 somebody was evicted; 1 nobody was.`,
  async run({ values: { url, force, reason, ticket, yes }, positionals: [key] }) {
    if (!force) throw new UsageError('a release from outside needs --force');
    if (!reason) throw new UsageError('a forced release needs a --reason');
    if (ticket !== undefined && !/^\d+$/.test(ticket))
      throw new UsageError(`--ticket is ${JSON.stringify(ticket)}, not a number`);
    await using locks = await open(url);
    const wanted = ticket === undefined ? undefined : BigInt(ticket);
    const hit = yes ? [wanted] : await agreed(locks, key!, wanted);
    if (!hit) return EXIT.NO;
    let evicted = 0;
    for (const each of hit) evicted += await locks.forceRelease(key!, { reason, ticket: each });
    console.log(evicted === 0 ? 'Nobody held it.' : `Evicted ${evicted === 1 ? 'one holder' : `${evicted} holders`}.`);
    return evicted === 0 ? EXIT.NO : EXIT.OK;
  },
});

/** Shows the holders and asks. It evicts only these: the user did not agree to evict a later holder. */
async function agreed(locks: Locks, key: string, ticket: bigint | undefined): Promise<bigint[] | undefined> {
  if (!process.stdin.isTTY) throw new UsageError('there is no terminal to ask on: say --yes');
  const hit = (standing: Standing): boolean => ticket === undefined || standing.ticket === ticket;
  const line = await lineOf(locks, key);
  const holders = line?.holders.filter(hit) ?? [];
  if (holders.length === 0) return [];
  console.log(details({ key, holders, waiters: [] }).join('\n'));
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await Promise.race([
      terminal.question('They may be working on it right now. Take it away? [y/N] ').catch(() => ''),
      once(terminal, 'close').then(() => ''), // ^C and ^D: in Node 22 they leave a question without an answer
    ]);
    return /^y(es)?$/i.test(answer.trim()) ? holders.map((holder) => holder.ticket) : undefined;
  } finally {
    terminal.close();
  }
}
