import type { Attempt, Claim, Standing } from '../../core/backend.ts';
import { invalid } from '../../core/errors.ts';

/** What the scripts take for a claim: see lua/attempt.lua. */
export function attemptArgs(claim: Claim, channel: string, notAfter: number): string[] {
  const { id, take, of, ttl, span, queue, atLeast, label } = claim;
  if (/\s/.test(id)) throw invalid('the id of a claim must hold no white space', claim.key);
  return [
    `${id} ${take} ${of} ${Math.ceil(ttl)} ${queue ? channel : '-'} ${label}`,
    `${notAfter}`,
    `${span}`,
    queue ? '1' : '0',
    atLeast === undefined ? '0' : `${atLeast}`,
  ];
}

/** Integers are numbers or, where the client is told so (`stringNumbers`, a type mapping), strings. */
type Integer = number | string;

/** Their reply to it, and the engine's time in µs, which every reply brings. */
export function readAttempt([ticket, now, ahead, wait]: Integer[], ttl: number): { attempt: Attempt; time: number } {
  const time = Number(now);
  const first = Number(ticket);
  if (first > 0) return { attempt: { granted: true, ticket: BigInt(ticket!), validFor: ttl }, time };
  if (first < 0) return { attempt: { granted: false, late: true }, time };
  return { attempt: { granted: false, ahead: Number(ahead), retryAfter: Number(wait) }, time };
}

export interface Mail {
  readonly id: string;
  readonly ticket: bigint;
}

export function readMail(message: string): Mail | undefined {
  const match = /^(\d+) (.+)$/.exec(message);
  return match ? { ticket: BigInt(match[1]!), id: match[2]! } : undefined;
}

const STANDING = /^([01]) (\d+) (\d+) (\d+) (\d+) (\d+) (.*)$/s;

/** The reply of lua/inspect.lua, in the order of the line. */
export function readStandings(key: string, [now, ...rows]: string[]): Standing[] {
  const standings = rows.map((row) => {
    const [, held, ticket, joined, lapse, take, of, label] = STANDING.exec(row)!;
    return {
      key,
      held: held === '1',
      ticket: BigInt(ticket!),
      take: Number(take),
      of: Number(of),
      label: label!,
      since: (Number(now) - Number(joined)) / 1_000,
      remaining: (Number(lapse) - Number(now)) / 1_000,
    };
  });
  // Holders first: the admitted are a prefix of the line, whatever a raise did to their tickets.
  standings.sort((a, b) => Number(b.held) - Number(a.held) || Number(a.ticket - b.ticket));
  return standings.map((standing, position) => ({ ...standing, position }));
}
