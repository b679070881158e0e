import type { Noted, Person, SceneName, Side } from '../../record.ts';

/** Where somebody stands at a moment of a rush. */
export type Doing =
  | 'home'
  /** In a line, for a lock. */
  | 'waiting'
  /** At the order, or at the shelf. */
  | 'inside'
  /** The process is stopped. */
  | 'paused'
  /** Was told: it is yours. */
  | 'won'
  /** Has written, and somebody else wrote over it; or there is no unit for them. */
  | 'wrong'
  /** The write was refused. */
  | 'refused'
  /** Was told: it is taken. */
  | 'lost';

export interface PersonNow extends Person {
  readonly doing: Doing;
  /** What they have read, if they have. */
  readonly left: number | undefined;
  readonly token: string | undefined;
}

/** A rush, looked at beforehand. */
export interface Plan {
  readonly scene: SceneName;
  readonly side: Side;
  readonly people: readonly (Person & { readonly notes: readonly Noted[] })[];
  /** Whether people stand in a line. */
  readonly line: boolean;
  /** ms from the first happening to the last. */
  readonly ms: number;
  readonly units: number;
}

export function planOf(scene: SceneName, side: Side): Plan {
  const { happenings } = side;
  const people = side.people.map((person) => {
    const notes = happenings.filter(({ who }) => who === person.who);
    const thing = notes.findLast((each) => each.thing !== undefined)?.thing ?? person.thing;
    return thing === undefined ? { ...person, notes } : { ...person, thing, notes };
  });
  return {
    scene,
    side,
    people: people.toSorted((a, b) => turnOf(a.notes) - turnOf(b.notes)),
    line: happenings.some(({ what }) => what === 'waits'),
    ms: happenings.at(-1)?.at ?? 0,
    units: side.things.reduce((sum, { units }) => sum + units, 0),
  };
}

/** When their turn comes. A line is shown in the order in which its people come in. */
const turnOf = (notes: readonly Noted[]): number =>
  notes.find(({ what }) => what === 'enters')?.at ?? notes.find(({ what }) => what === 'told')?.at ?? 0;

/** Everybody, in the order of their turns. @param at ms since the beginning */
export function peopleAt({ scene, side, people, line, units, ms }: Plan, at: number): PersonNow[] {
  const writes = side.happenings.filter((each) => each.what === 'writes' && each.at <= at);
  const rightful = new Set(writes.slice(0, units).map(({ who }) => who));
  const owners = new Map(writes.map(({ thing, who }) => [thing, who]));
  if (at >= ms) for (const [thing, who] of Object.entries(side.owners)) owners.set(Number(thing), who);
  const isTheirs = (who: string): boolean =>
    scene === 'sale' ? rightful.has(who) : [...owners.values()].includes(who);
  return people.map(({ notes, ...person }) => {
    const past = notes.filter((each) => each.at <= at);
    const doing = doingOf(past.at(-1), line, isTheirs(person.who), past);
    const left = past.find(({ what }) => what === 'reads')?.left;
    return { ...person, doing, left, token: past.find(({ what }) => what === 'enters')?.token };
  });
}

function doingOf(last: Noted | undefined, line: boolean, theirs: boolean, past: readonly Noted[]): Doing {
  switch (last?.what) {
    case undefined:
      return 'home';
    case 'taps':
      return line ? 'waiting' : 'inside';
    case 'waits':
      return 'waiting';
    case 'enters':
    case 'reads':
    case 'wakes':
      return 'inside';
    case 'pauses':
      return 'paused';
    case 'refused':
      return 'refused';
    case 'writes':
      return theirs ? 'won' : 'wrong';
    case 'told':
      if (last.won) return theirs ? 'won' : 'wrong';
      return past.some(({ what }) => what === 'refused') ? 'refused' : 'lost';
  }
}
