import type { Standing } from '../../src/core/backend.ts';
import type { Hold } from '../../src/core/hold.ts';

/** What a quorum puts before the label of a claim at its nodes: the same at all of them. */
const tagOf = ({ label }: Standing): string => label.slice(0, 15);

/** How many nodes keep an exclusive hold at this moment, by what each of them lists. */
export function votesFor({ claim, token, tenure }: Hold, lists: readonly (readonly Standing[])[]): number {
  const first = token - BigInt(tenure.passes);
  const ofKey = lists.map((list) => list.filter(({ key, held }) => held && key === claim.key));
  const tags = new Set(
    ofKey
      .flat()
      .filter(({ ticket }) => ticket === first)
      .map(tagOf),
  );
  return ofKey.filter((list) => list.some((standing) => tags.has(tagOf(standing)))).length;
}
