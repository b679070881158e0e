import type { SceneName, Side } from '../../record.ts';

/** What a rush came to. */
export interface Verdict {
  readonly people: number;
  readonly things: number;
  readonly units: number;
  /** How many were told: it is yours. */
  readonly given: number;
  /** Of them, those for whom there was nothing. */
  readonly wrong: number;
  /** The fewest and the most who were told so of one order. */
  readonly fewest: number;
  readonly most: number;
  /** Writes that were refused. */
  readonly refused: number;
  /** From the first tap to the last answer. */
  readonly ms: number;
  readonly right: boolean;
}

export function verdictOf(scene: SceneName, { things, people, happenings }: Side): Verdict {
  const writes = happenings.filter(({ what }) => what === 'writes');
  const units = things.reduce((sum, each) => sum + each.units, 0);
  const counts = things.map(({ thing }) => writes.filter((each) => each.thing === thing).length);
  const wanted = Math.min(units, people.length);
  const right = scene === 'sale' ? writes.length === wanted : counts.every((count) => count === 1);
  return {
    people: people.length,
    things: things.length,
    units,
    given: writes.length,
    wrong: Math.max(0, writes.length - units),
    fewest: Math.min(...counts),
    most: Math.max(...counts),
    refused: happenings.filter(({ what }) => what === 'refused').length,
    ms: (happenings.at(-1)?.at ?? 0) - (happenings[0]?.at ?? 0),
    right,
  };
}
