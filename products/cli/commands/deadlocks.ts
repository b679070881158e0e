import { milliseconds, visible } from '../../../src/core/index.ts';
import type { Deadlock, Waits, WaitsClaim } from '../../../src/index.ts';
import { lastArgument } from '../../ui/page/shell.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { recordOf } from '../listing.ts';
import { withProgress } from '../terminal/screen.ts';
import { span } from '../terminal/table.ts';

const nameOf = ({ claims }: Deadlock): string => claims.join(' ');

const quotedKey = (key: string): string => visible(JSON.stringify(key));

/** Says who holds what, who waits for what, and what to do. */
function words({ claims, cycle, victim }: Deadlock, waits: Waits): string[] {
  const byId = new Map(waits.claims.map((claim) => [claim.id, claim]));
  const round = cycle.map((id) => byId.get(id)!);
  const waiting = claims.filter((id) => !byId.get(id)!.held).length;
  const rows = round.flatMap((claim, i) => (claim.held || !round.at(i - 1)!.held ? [] : [row(claim, round, i)]));
  const more = waiting > rows.length ? [`  and ${waiting - rows.length} more are part of it`] : [];
  const head = `DEADLOCK: ${waiting === 1 ? 'one waits for itself' : `${waiting} wait for each other`}`;
  return [head, ...rows, ...more, ...advice(round, victim === undefined ? undefined : byId.get(victim))];
}

/** @param round each claim waits for the next one; claim `i` waits inside of the hold before it */
function row(claim: WaitsClaim, round: readonly WaitsClaim[], i: number): string {
  const { label, key, since, origin } = claim;
  const around = round.at(i - 1)!;
  let ahead = 0;
  while (!round[(i + 1 + ahead) % round.length]!.held) ahead++;
  const next = round[(i + 1 + ahead) % round.length]!;
  const whose = origin ? ` (${origin.process})` : '';
  const waits = since === undefined ? 'waits' : `has waited ${span(since)}`;
  const behind = ahead === 0 ? '' : `, behind ${ahead === 1 ? 'another' : `${ahead} others`}`;
  return `  ${visible(label)}${whose} holds ${quotedKey(around.key)} and ${waits} for ${quotedKey(key)}, held by ${visible(next.label)}${behind}`;
}

function advice(round: readonly WaitsClaim[], victim: WaitsClaim | undefined): string[] {
  if (victim)
    return [
      `  ${visible(victim.label)} waits with detect: true, so it gives up its wait for ${quotedKey(victim.key)}.`,
    ];
  const hold = round.find(({ held }) => held);
  const way = hold
    ? `, or run: holdfast release --force --token ${hold.token} --reason deadlock ${lastArgument(hold.key)}`
    : '';
  return [
    `  None of them can go on until one gives up. End one of these processes${way}`,
    '  To get an error instead: wait with detect: true. To avoid it: take locks in the same order everywhere, or with all().',
  ];
}

/** The deadlock for JSON. The claims of the shortest cycle come first. */
function recorded({ claims, cycle, victim }: Deadlock, waits: Waits): object {
  const byId = new Map(waits.claims.map((claim) => [claim.id, claim]));
  const ids = [...new Set([...cycle, ...claims])];
  const records = ids.map((id) => ({ id, ...recordOf(byId.get(id)!), inside: byId.get(id)!.origin?.inside ?? [] }));
  return { cycle, victim: victim ?? null, claims: records };
}

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
