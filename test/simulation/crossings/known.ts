import type { CrossingCheckerName } from './checkers.ts';
import type { Feature, Pair } from './features.ts';

/** Something that is wrong, and not mended yet: what that checker finds where these features are drawn is set aside. */
export interface Known {
  readonly found: CrossingCheckerName;
  readonly features: readonly Feature[];
  readonly why: string;
}

export const KNOWN: readonly Known[] = [];

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
