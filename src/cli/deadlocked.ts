import { lastArgument } from '../core/contract/shell.ts';
import { visible } from '../core/contract/visible.ts';
import type { Deadlock, Waits, WaitsClaim } from '../index.ts';
import { recordOf } from './listing.ts';
import { span } from './terminal/table.ts';

/** Names a deadlock, also in the next look. */
export const nameOf = ({ claims }: Deadlock): string => claims.join(' ');

const quotedKey = (key: string): string => visible(JSON.stringify(key));

/** Tells who holds what, who waits for what, and what to do. */
export function words({ claims, cycle, victim }: Deadlock, waits: Waits): string[] {
  const byId = new Map(waits.claims.map((claim) => [claim.id, claim]));
  const round = cycle.map((id) => byId.get(id)!);
  const waiting = claims.filter((id) => !byId.get(id)!.held).length;
  const rows = round.flatMap((claim, i) => (claim.held || !round.at(i - 1)!.held ? [] : [row(claim, round, i)]));
  const more = waiting > rows.length ? [`  and ${waiting - rows.length} more are part of it`] : [];
  const head = `DEADLOCK: ${waiting === 1 ? 'one waits for itself' : `${waiting} wait for each other`}`;
  return [head, ...rows, ...more, ...advice(round, victim === undefined ? undefined : byId.get(victim))];
}

/** @param round each claim waits for the next one; before this one stands the hold around it */
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
export function recorded({ claims, cycle, victim }: Deadlock, waits: Waits): object {
  const byId = new Map(waits.claims.map((claim) => [claim.id, claim]));
  const ids = [...new Set([...cycle, ...claims])];
  const told = ids.map((id) => ({ id, ...recordOf(byId.get(id)!), inside: byId.get(id)!.origin?.inside ?? [] }));
  return { cycle, victim: victim ?? null, claims: told };
}
