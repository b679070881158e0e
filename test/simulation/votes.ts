import type { QueueEntry } from '../../src/core/contract/backend.ts';
import type { Hold } from '../../src/core/queue/hold.ts';

/** What a quorum puts before the label of a claim at its nodes: the same at all of them. */
const tagOf = ({ label }: QueueEntry): string => label.slice(0, 15);

/** By what nodes list, how many of them keep an exclusive hold. */
export class Votes {
  /** A hold is found by its token; a vote that is asked for anew may have a higher one, and the same tag. */
  readonly #tags = new Map<string, string>();

  /** Undefined where it cannot be told: part of a multi-lock, which is seen late, when all its votes are other ones. */
  for({ claim, token, tenure }: Hold, lists: readonly (readonly QueueEntry[])[]): number | undefined {
    const first = token - BigInt(tenure.passes);
    const ofKey = lists.map((list) => list.filter(({ key, held }) => held && key === claim.key));
    const votes = (tag: string): number =>
      ofKey.filter((list) => list.some((standing) => tagOf(standing) === tag)).length;
    if (!this.#tags.has(claim.id)) {
      // A rival that lost may have a vote with the same number.
      const tags = ofKey.flat().flatMap((standing) => (standing.token === first ? [tagOf(standing)] : []));
      const [tag] = tags.sort((a, b) => votes(b) - votes(a));
      if (tag !== undefined) this.#tags.set(claim.id, tag);
    }
    const tag = this.#tags.get(claim.id);
    return tag === undefined ? undefined : votes(tag);
  }
}
