import { type Attempt, type Claim, type Grant, invalid, type Renewal } from '../../core/index.ts';
import { type Layout, layouts, NO_TOKEN } from './layout.ts';

type Fields<L extends Layout> = Readonly<Record<keyof L['fixed'] | keyof L['words'], string | number | bigint>>;

/** Makes a function that writes texts of this layout, each number with zeros before it to the width of its field. */
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

/** The number of µs in one ms. Scripts count in µs. */
export const US_PER_MS = 1_000;

/**
 * Gives the arguments of the script `attempt`.
 * @param notAfter the last moment at which the server may grant the claim, ms by the server's clock; 0: the claim is always too late
 * @param remember ms for which a key that nobody uses keeps its last token
 */
export function attemptArgs(claim: Claim, channel: string, notAfter: number, remember: number): string[] {
  const { id, units, capacity, queue, tokenCount, label, minToken = NO_TOKEN } = claim;
  if (/\s/.test(id)) throw invalid('the id of a claim must hold no white space', claim.key);
  const ttl = Math.ceil(claim.ttl);
  const asked = {
    ...{ notAfter: Math.floor(notAfter * US_PER_MS), minToken, queue: queue ? 1 : 0, tokenCount },
    ...{ id, units, capacity, ttl, channel, label },
  };
  return [writeAttempt(asked), `${ttl + remember}`];
}

export function renewArgs(claim: Claim, remember: number): string[] {
  const ttl = Math.ceil(claim.ttl);
  return [`${writeHold({ ...claim, ttl })} `, `${ttl} ${ttl + remember}`];
}

export const releaseArgs = (id: string, remember: number): string[] => [`${id} ${remember}`];

/** Whether a script's reply to one request is an error. Options (`stringNumbers`, `typeMapping`) make strings of integers, and buffers of strings. */
export const isFailure = (reply: unknown): boolean => String(reply)[0] === '!';

const errorIn = (failure: string): Error => new Error(failure.slice(2));

/** Reads a reply of the script `attempt`: the attempt, or undefined if the claim must ask again, and the server's time in ms. */
export function readAttempt(
  reply: unknown,
  { ttl: validFor }: Pick<Claim, 'ttl'>,
): { attempt: Attempt | undefined; time: number } {
  const text = String(reply);
  if (text[0] === '!') throw errorIn(text);
  const [token, now, third, wait] = text.split(' ');
  const time = Number(now) / US_PER_MS;
  if (token === '0') return { attempt: { granted: false, ahead: Number(third), retryAfter: Number(wait) }, time };
  if (token === '-1') return { attempt: { granted: false, late: true }, time };
  if (token === '-2') return { attempt: undefined, time };
  return { attempt: { granted: true, token: BigInt(token!), tokenCount: Number(third), validFor }, time };
}

/** Reads a reply of the script `release` or `evict`. `more`: the queue has more work than one script does. */
export function readFreed(reply: unknown): { freed: boolean; more: boolean } {
  const text = String(reply);
  if (text[0] === '!') throw errorIn(text);
  const bits = Number(text);
  return { freed: bits % 2 === 1, more: bits > 1 };
}

/** Reads a reply of the script `renew`. Undefined means that the hold must be renewed again. */
export function readRenewal(reply: unknown, ttl: number): Renewal | undefined {
  const text = String(reply);
  if (text === '2') return undefined;
  return text === '1' ? { validFor: ttl } : text === '0' ? 'gone' : 'unknown';
}

/** Reads a value as the scripts give it. @param since when its age began, µs @param ends when it expires, µs */
export const readValue = (token: unknown, since: unknown, ends: unknown, text: unknown) => ({
  text: String(text),
  token: BigInt(String(token)),
  at: Number(since) / US_PER_MS,
  until: Number(ends) / US_PER_MS,
});

/** A message for one claim: its grant, a value, or its eviction. If `value` is undefined, the claim has to ask for the value. */
export type ClaimMessage = { readonly id: string } & (
  | { readonly grant: Grant }
  | { readonly value: ReturnType<typeof readValue> | undefined }
  | { readonly evicted: true }
);

const MESSAGE = /^(grant|value|ask|evicted) (\S+)(?: (\d+) (\d+) (\d+))?(?: (.*))?$/s;

/** Reads a message of the scripts (`send` in lua/queue.lua); undefined for any other message. */
export function readMessage(message: string): ClaimMessage | undefined {
  const [, kind, id, token, second, third, text] = MESSAGE.exec(message) ?? [];
  if (!id) return undefined;
  if (kind === 'evicted') return { id, evicted: true };
  if (kind !== 'grant') return { id, value: token ? readValue(token, second, third, text ?? '') : undefined };
  if (!token) return undefined;
  // `validFor` counts from the last answered attempt.
  return { id, grant: { granted: true, token: BigInt(token), tokenCount: Number(third), validFor: Number(second) } };
}
