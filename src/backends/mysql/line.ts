import { type Seats, Tally } from '../../core/admission.ts';
import type { Claim, Grant, Refusal, Standing } from '../../core/backend.ts';
import { lapse, MICRO, type Place, parse, type Survey } from './place.ts';

/** A line as it was read. */
export interface Line {
  readonly text: string;
  /** The server's time then, µs. */
  readonly now: number;
}

export const grantOf = (ticket: bigint, { ttl }: Claim): Grant => ({ granted: true, ticket, validFor: ttl });

/** Whether one more, at the end, would be admitted. */
export function fits(places: readonly Place[], newcomer: Seats): boolean {
  const tally = new Tally();
  for (const place of places) {
    if (!tally.fits(place)) return false;
    tally.add(place);
  }
  return tally.fits(newcomer);
}

export function refusal({ places, held }: Survey, ahead: number, now: number): Refusal {
  const lapses = places.slice(0, ahead).map((place, position) => lapse(place, position < held));
  return { granted: false, ahead, retryAfter: (Math.min(...lapses) - now) / MICRO };
}

/** Whether a claim that was renewed is there: what was alive then is alive now, with the whole of its ttl. */
export const stands = ({ id }: Claim, line: Line | undefined): boolean =>
  line !== undefined && parse(line.text).some((place) => place.id === id && place.until > line.now);

export function* standings(key: string, { places, held }: Survey, now: number): Generator<Standing> {
  for (const [position, place] of places.entries()) {
    const { ticket, take, of, label, joined } = place;
    const holds = position < held;
    const remaining = (lapse(place, holds) - now) / MICRO;
    yield { key, held: holds, position, ticket, take, of, label, since: (now - joined) / MICRO, remaining };
  }
}

/** The claims in groups in which no key is there twice, each group in the order of the keys' bytes. */
export function* rounds(claims: readonly Claim[]): Generator<Claim[]> {
  let rest = [...claims].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  while (rest.length > 0) {
    const firsts = rest.filter(({ key }, i) => rest[i - 1]?.key !== key);
    yield firsts;
    const taken = new Set(firsts);
    rest = rest.filter((claim) => !taken.has(claim));
  }
}
