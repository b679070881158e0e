import type { Attempt, Claim, Renewal, Standing } from '../../core/backend.ts';
import { invalid } from '../../core/errors.ts';

/** What the scripts take for a claim: see lua/attempt.lua and lua/include/alone.lua. */
export function attemptArgs(claim: Claim, channel: string, notAfter: number): string[] {
  const { id, take, of, span, queue, atLeast, label } = claim;
  if (/\s/.test(id)) throw invalid('the id of a claim must hold no white space', claim.key);
  const ttl = Math.ceil(claim.ttl);
  const least = atLeast === undefined ? NOTHING : digits(atLeast);
  const seats = `${take} ${of} ${ttl} ${queue ? channel : '-'} ${label}`;
  return [`${digits(notAfter)}${least}${queue ? 1 : 0} ${`${span}`.padStart(4, '0')} ${id} ${seats}`, `${ttl + DAY}`];
}

const NOTHING = '-'.repeat(16);

const DAY = 86_400_000;

/** Times and tickets have 16 digits in the scripts, where they are compared as text. */
export const digits = (micros: number | bigint): string => `${micros}`.padStart(16, '0');

/**
 * Whether a reply among others in one script is an error of its own. Integers are strings, and strings buffers, where the client
 * is told so (`stringNumbers`, `typeMapping`).
 */
export const failed = (reply: unknown): boolean => String(reply)[0] === '!';

function own(reply: unknown): string {
  const text = String(reply);
  if (failed(text)) throw new Error(text.slice(2));
  return text;
}

/** What came of a claim, and the engine's time in µs, which every reply brings. */
export function readAttempt(reply: unknown, claim: Pick<Claim, 'ttl' | 'atLeast'>): { attempt: Attempt; time: number } {
  const { ttl: validFor, atLeast } = claim;
  const granted = (ticket: bigint, time: number) => ({ attempt: { granted: true, ticket, validFor } as const, time });
  const text = typeof reply === 'number' ? '' : own(reply);
  const alone = typeof reply === 'number' ? reply : Number(text);
  if (alone < 0) return granted(atLeast!, -alone);
  if (alone > 0) return granted(BigInt(alone), alone);
  const [ticket, now, ahead, wait] = text.split(' ');
  const time = Number(now);
  if (ticket === '0') return { attempt: { granted: false, ahead: Number(ahead), retryAfter: Number(wait) }, time };
  if (ticket === '-1') return { attempt: { granted: false, late: true }, time };
  return granted(BigInt(ticket!), time);
}

/** Of lua/release.lua. */
export const readFreed = (reply: unknown): boolean => own(reply) === '1';

/** Of lua/renew.lua. */
export function readRenewal(reply: unknown, ttl: number): Renewal {
  const text = String(reply);
  return text === '1' ? { validFor: ttl } : text === '0' ? 'gone' : 'unknown';
}

export interface Mail {
  readonly id: string;
  readonly ticket: bigint;
  /** ms from the last answered attempt. */
  readonly validFor: number;
}

export function readMail(message: string): Mail | undefined {
  const match = /^(\d+) (\S+) (\d+)$/.exec(message);
  return match ? { ticket: BigInt(match[1]!), id: match[2]!, validFor: Number(match[3]) } : undefined;
}

const STANDING = /^([01]) (\d+) (\d+) (\d+) (\d+) (.*)$/s;

/** A claim of lua/include/standing.lua. @param now of the engine, µs */
export function readStanding(key: string, now: string, row: string): Omit<Standing, 'position'> {
  const [, held, ticket, lapse, take, of, label] = STANDING.exec(row)!;
  return {
    key,
    held: held === '1',
    ticket: BigInt(ticket!),
    take: Number(take),
    of: Number(of),
    label: label!,
    // A ticket is the time it was given at, or just ahead of it.
    since: Math.max(0, Number(now) - Number(ticket)) / 1_000,
    remaining: (Number(lapse) - Number(now)) / 1_000,
  };
}

/** Holders first: the admitted are a prefix of the line, whatever a raise did to their tickets. */
export const inOrder = (standings: readonly Omit<Standing, 'position'>[]): Standing[] =>
  [...standings]
    .sort((a, b) => Number(b.held) - Number(a.held) || Number(a.ticket - b.ticket))
    .map((standing, position) => ({ ...standing, position }));
