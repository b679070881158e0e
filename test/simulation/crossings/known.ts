import type { CrossingCheckerName } from './checkers.ts';
import type { Feature, Pair } from './features.ts';

/** Something that is wrong, and not mended yet: what that checker finds where these features are drawn is set aside. */
export interface Known {
  readonly found: CrossingCheckerName;
  readonly features: readonly Feature[];
  readonly why: string;
}

export const KNOWN: readonly Known[] = [
  { found: 'tries', features: ['wait: 0'], why: 'a try waits for a release that is on its way, and then for others' },
  {
    found: 'idleness',
    features: ['forced'],
    why: 'callers of the process that was evicted wait for as long as its lease',
  },
  {
    found: 'idleness',
    features: ['minHold'],
    why: 'a renewal that the release overtakes keeps the key for its whole lease',
  },
  { found: 'closes', features: ['memo'], why: 'close() does not end the waits of memos' },
  { found: 'endings', features: ['detect', 'memo'], why: 'no search sees a ring through a memo' },
];

/** What is found and not known, of a schedule about these two features. */
export const unknown = ({ one, other }: Pair, found: readonly string[]): string[] =>
  found.filter(
    (line) =>
      !KNOWN.some(
        (known) =>
          line.startsWith(`${known.found}: `) &&
          known.features.every((feature) => feature === one || feature === other || line.includes(feature)),
      ),
  );
