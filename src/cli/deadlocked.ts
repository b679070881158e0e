import { visible } from '../core/visible.ts';
import type { Deadlock, Waits, WaitsClaim } from '../index.ts';
import { recordOf } from './listing.ts';
import { span } from './terminal/table.ts';

/** Names a deadlock, also in the next look. */
export const nameOf = ({ claims }: Deadlock): string => claims.join(' ');

const named = (key: string): string => visible(JSON.stringify(key));

/** Tells who holds what, who waits for what, and what to do. */
export function words({ claims, cycle, victim }: Deadlock, waits: Waits): string[] {
  const byId = new Map(waits.claims.map((claim) => [claim.id, claim]));
  const round = cycle.map((id) => byId.get(id)!);
  const rows = round.flatMap((claim, i) => (claim.held ? [] : [row(claim, round, i)]));
  const others = claims.filter((id) => !byId.get(id)!.held).length - rows.length;
  const more = others > 0 ? [`  and ${others} more are part of it`] : [];
  const head = `DEADLOCK: ${rows.length === 1 ? 'one waits for itself' : `${rows.length} wait for each other`}`;
  return [head, ...rows, ...more, ...advice(round, victim === undefined ? undefined : byId.get(victim))];
}

/** @param round each claim waits for the next one; before a waiting claim stands the hold around it */
function row(claim: WaitsClaim, round: readonly WaitsClaim[], i: number): string {
  const { label, key, since, origin } = claim;
  const around = round.at(i - 1)!;
  const next = round[(i + 1) % round.length]!;
  const has = around.held ? `holds ${named(around.key)}` : `is ahead of ${visible(around.label)}`;
  const whose = origin ? ` (${origin.process})` : '';
  const waits = since === undefined ? 'waits' : `has waited ${span(since)}`;
  const by = next.held ? `held by ${visible(next.label)}` : `behind ${visible(next.label)}`;
  return `  ${visible(label)}${whose} ${has} and ${waits} for ${named(key)}, ${by}`;
}

function advice(round: readonly WaitsClaim[], victim: WaitsClaim | undefined): string[] {
  if (victim)
    return [`  ${visible(victim.label)} waits with detect: true, so it gives up its wait for ${named(victim.key)}.`];
  const hold = round.find(({ held }) => held);
  const way = hold
    ? `, or run: holdfast release ${named(hold.key)} --force --ticket ${hold.ticket} --reason deadlock`
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
