import type { Attempt, Claim, QueueEntry, Renewal } from '../../core/contract/backend.ts';
import { invalid } from '../../core/contract/errors.ts';
import { type Layout, layouts, NO_TOKEN } from './layout.ts';

type Fields<L extends Layout> = Readonly<Record<keyof L['fixed'] | keyof L['words'], string | number | bigint>>;

/** Makes a writer of texts of this layout. It fills a number up with zeros to the width of its field. */
function writer<L extends Layout>({ fixed, words }: L): (fields: Fields<L>) => string {
  const names = [...Object.keys(fixed), ...Object.keys(words)] as (keyof Fields<L>)[];
  const widths = names.map((name) => fixed[name as string] ?? 0);
  return (fields) => {
    let text = `${fields[names[0]!]}`.padStart(widths[0]!, '0');
    for (let i = 1; i < names.length; i++) text += ` ${`${fields[names[i]!]}`.padStart(widths[i]!, '0')}`;
    return text;
  };
}

const writeAttempt = writer(layouts.asked);
const writeHold = writer(layouts.hold);

/** µs in one ms: the unit of the scripts. */
export const MICRO = 1_000;

/**
 * Gives the arguments of lua/attempt.lua.
 * @param notAfter the last moment at which the server may grant it, ms by the server's clock. 0 makes every server answer that it is too
 * late
 * @param remember ms for which a key that nobody uses keeps its last token
 */
export function attemptArgs(claim: Claim, channel: string, notAfter: number, remember: number): string[] {
  const { id, units, capacity, queue, tokenCount, label, minToken = NO_TOKEN } = claim;
  if (/\s/.test(id)) throw invalid('the id of a claim must hold no white space', claim.key);
  const ttl = Math.ceil(claim.ttl);
  const grantsTo = queue ? channel : '-';
  const limit = Math.floor(notAfter * MICRO);
  return [
    writeAttempt({
      notAfter: limit,
      minToken,
      queue: queue ? 1 : 0,
      tokenCount,
      id,
      units,
      capacity,
      ttl,
      channel: grantsTo,
      label,
    }),
    `${ttl + remember}`,
  ];
}

/** Gives the arguments of lua/renew.lua. */
export function renewArgs(claim: Claim, remember: number): string[] {
  const ttl = Math.ceil(claim.ttl);
  return [`${writeHold({ ...claim, ttl })} `, `${ttl} ${ttl + remember}`];
}

/** Gives the arguments of lua/release.lua. */
export const releaseArgs = (id: string, remember: number): string[] => [`${id} ${remember}`];

/**
 * Whether a reply among others in one script is an error of its own. Integers are strings, and strings buffers, where the client is set so
 * (`stringNumbers`, `typeMapping`).
 */
export const isFailure = (reply: unknown): boolean => String(reply)[0] === '!';

function textOf(reply: unknown): string {
  const text = String(reply);
  if (text[0] === '!') throw new Error(text.slice(2));
  return text;
}

/** Reads a reply of lua/attempt.lua: the attempt, or undefined if the claim must ask again, and the server's time in ms. */
export function readAttempt(
  reply: unknown,
  { ttl: validFor }: Pick<Claim, 'ttl'>,
): { attempt: Attempt | undefined; time: number } {
  const [token, now, third, wait] = textOf(reply).split(' ');
  const time = Number(now) / MICRO;
  if (token === '0') return { attempt: { granted: false, ahead: Number(third), retryAfter: Number(wait) }, time };
  if (token === '-1') return { attempt: { granted: false, late: true }, time };
  if (token === '-2') return { attempt: undefined, time };
  return { attempt: { granted: true, token: BigInt(token!), tokenCount: Number(third), validFor }, time };
}

/** Reads a reply of lua/release.lua or lua/evict.lua. `more` says that the line has more work than one script does. */
export function readFreed(reply: unknown): { freed: boolean; more: boolean } {
  const bits = Number(textOf(reply));
  return { freed: bits % 2 === 1, more: bits > 1 };
}

/** Reads a reply of lua/renew.lua. Undefined means that the hold must be renewed again. */
export function readRenewal(reply: unknown, ttl: number): Renewal | undefined {
  const text = String(reply);
  if (text === '2') return undefined;
  return text === '1' ? { validFor: ttl } : text === '0' ? 'gone' : 'unknown';
}

export interface Mail {
  readonly id: string;
  readonly token: bigint;
  /** The number of tokens in a row; one, if an older version told it. */
  readonly tokenCount: number;
  /** The time since the last answered attempt, ms. */
  readonly validFor: number;
}

/** Reads words as the scripts tell them: with the times at which they were left and are over, µs. */
export const readWords = (token: unknown, since: unknown, ends: unknown, text: unknown) => ({
  text: String(text),
  token: BigInt(String(token)),
  at: Number(since) / MICRO,
  until: Number(ends) / MICRO,
});

/** Reads what lua/leave.lua tells a claim: words, or that it has to ask for them. */
export function readLeft(
  message: string,
): { readonly id: string; readonly words: ReturnType<typeof readWords> | undefined } | undefined {
  const match = /^(?:ask|left) (\S+)(?: (\d+) (\d+) (\d+) )?/.exec(message);
  if (!match) return undefined;
  const [head, id, token, since, ends] = match;
  return { id: id!, words: token ? readWords(token, since, ends, message.slice(head.length)) : undefined };
}

/** Reads a message of `tell` in lua/include/line.lua. */
export function readMail(message: string): Mail | undefined {
  const match = /^(\d+) (\S+) (\d+)(?: (\d+))?$/.exec(message);
  if (!match) return undefined;
  const [, token, id, validFor, tokenCount] = match;
  return { token: BigInt(token!), id: id!, validFor: Number(validFor), tokenCount: Number(tokenCount ?? 1) };
}

const STANDING = /^([01]) (\d+) (\d+) (\d+) (\d+) (.*)$/s;

/** Reads a claim of lua/include/standing.lua. @param now the time of the engine, µs */
export function readStanding(key: string, now: string, row: string): Omit<QueueEntry, 'position'> {
  const [, held, token, expiry, units, capacity, label] = STANDING.exec(row)!;
  return {
    key,
    held: held === '1',
    token: BigInt(token!),
    units: Number(units),
    capacity: Number(capacity),
    label: label!,
    // A token is the time at which it was given, or just after it.
    since: Math.max(0, Number(now) - Number(token)) / MICRO,
    remaining: (Number(expiry) - Number(now)) / MICRO,
  };
}

/** Sorts the holders before the waiters, even where a raise gave a holder a later token. */
export const inOrder = (standings: readonly Omit<QueueEntry, 'position'>[]): QueueEntry[] =>
  [...standings]
    .sort((a, b) => Number(b.held) - Number(a.held) || Number(a.token - b.token))
    .map((standing, position) => ({ ...standing, position }));
