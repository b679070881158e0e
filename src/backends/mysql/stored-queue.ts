import { type Claim, type Grant, leastOf, PLACE_TTL_MS, type Refusal, Tally, type Units } from '../../core/index.ts';

/** One claim as it stands in a line. Times are in µs, by the server's clock. */
export interface StoredClaim extends Units {
  readonly id: string;
  /** When it expires as a hold. */
  readonly until: number;
  readonly token: bigint;
  readonly ttl: number;
  readonly joined: number;
  /** The bell of its process; `-` if it has none. */
  readonly bell: string;
  readonly label: string;
  /** The text that is stored. */
  readonly text: string;
}

export const MICRO = 1_000;

/** How a place begins. No other part of a line has an `@`, so a place can be found in the text. */
export const mark = (id: string): string => `@${encodeURIComponent(id)} `;

/** The parts of a place that this process knows. The statement adds those that only the server knows. */
export function partsOf(claim: Claim, bell: string): { mark: string; ttl: string; seats: string; tail: string } {
  const ttl = `${Math.round(claim.ttl * MICRO)}`;
  return {
    mark: mark(claim.id),
    ttl,
    seats: ` ${claim.units} ${claim.capacity} ${ttl} `,
    tail: ` ${bell} ${encodeURIComponent(claim.label.toWellFormed())};`,
  };
}

export function parse(line: string): StoredClaim[] {
  return line
    .split(';')
    .slice(0, -1)
    .map((text) => {
      const [id, until, token, units, capacity, ttl, joined, bell, label] = text.slice(1).split(' ') as [
        string,
        ...string[],
      ];
      return {
        id: decodeURIComponent(id),
        until: Number(until),
        token: BigInt(token!),
        units: Number(units),
        capacity: Number(capacity),
        ttl: Number(ttl),
        joined: Number(joined),
        bell: bell!,
        label: decodeURIComponent(label!),
        text: `${text};`,
      };
    });
}

/** A line without the claims that have expired. */
export interface LiveLine {
  readonly places: readonly StoredClaim[];
  /** How many of them hold; they are the first ones. */
  readonly held: number;
  readonly text: string;
  /** Whether any claim was left out. */
  readonly expired: boolean;
}

export function liveLine(line: string, now: number): LiveLine {
  const stored = parse(line);
  const tally = new Tally();
  const places: StoredClaim[] = [];
  let held = 0;
  for (const place of stored) {
    const holds = held === places.length && tally.fits(place);
    if (expiry(place, holds) <= now) continue;
    places.push(place);
    if (!holds) continue;
    tally.add(place);
    held++;
  }
  return { places, held, text: places.map(({ text }) => text).join(''), expired: places.length < stored.length };
}

/** A waiter's place may expire earlier than a hold, since its process asks again and again. */
export const expiry = ({ until, ttl }: StoredClaim, holds: boolean): number =>
  holds ? until : until - ttl + Math.min(ttl, PLACE_TTL_MS * MICRO);

/** What a line says of a claim. `first`: the token of the claim that stands first. */
export type LineAttempt = Grant | (Refusal & { readonly first?: bigint });

export const grantOf = (token: bigint, { ttl }: Claim): Grant => ({ granted: true, token, validFor: ttl });

/** Whether one more claim, at the end of the line, would be admitted. */
export function fits(places: readonly StoredClaim[], newcomer: Units): boolean {
  const tally = new Tally();
  for (const place of places) {
    if (!tally.fits(place)) return false;
    tally.add(place);
  }
  return tally.fits(newcomer);
}

export function refusal({ places, held }: LiveLine, ahead: number, now: number): LineAttempt {
  const expires = places.slice(0, ahead).map((place, position) => expiry(place, position < held));
  return { granted: false, ahead, retryAfter: (leastOf(expires) - now) / MICRO, first: places[0]?.token };
}
