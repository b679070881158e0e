import type { PersonNow, Plan } from './scene.ts';

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Card {
  readonly thing: number;
  readonly x: number;
  readonly width: number;
  readonly height: number;
  readonly units: number;
  /** Where the units are. */
  readonly slots: readonly Place[];
}

export interface Box {
  readonly process: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Of the picture, in units of its own; on a phone they are about pixels. */
export const WIDTH = 360;
const PITCH = 27;
const ROW = 26;
const TITLE = 24;
/** Between the pictures of one line. */
const IN_LINE = 23;
const LABEL = 18;

/** Where everything is that does not move. */
export interface Layout {
  readonly cards: readonly Card[];
  readonly boxes: readonly Box[];
  /** Where the first one stands whose turn it is. */
  readonly inside: number;
  /** Where the first one waits. */
  readonly line: number;
  readonly height: number;
  /** Whether a line goes sideways, below one wide shelf. */
  readonly wide: boolean;
}

const perRow = (width: number): number => Math.max(1, Math.floor((width - 8) / PITCH));

/** Centred rows. @param index from 0, of `count` */
function rows(index: number, count: number, center: number, top: number, most: number): Place {
  const row = Math.floor(index / most);
  const inRow = Math.min(most, count - row * most);
  return { x: center + ((index % most) - (inRow - 1) / 2) * PITCH, y: top + row * ROW };
}

export function layoutOf({ side, scene, people }: Plan, processes: number): Layout {
  const column = WIDTH / side.things.length;
  const width = column - 8;
  const wide = side.things.length === 1;
  // An order goes to one, so that all others are too many; the rows below the units are for them.
  const height = TITLE + ROW * (scene === 'orders' ? 3 : 2) + 6;
  const cards = side.things.map(({ thing, units }, i) => {
    const x = i * column + 4;
    const slots = Array.from({ length: units }, (_, n) =>
      rows(n, units, x + width / 2, TITLE + ROW / 2 + 2, perRow(width)),
    );
    return { thing, x, width, height, units, slots };
  });
  const inside = height + 38;
  const line = inside + 36;
  const longest = scene === 'orders' ? 5 : 4;
  const bottom = line + longest * IN_LINE + 8;
  const share = WIDTH / processes;
  const inBox = Math.ceil(people.length / processes);
  const box = { y: bottom, width: share - 8, height: LABEL + Math.ceil(inBox / perRow(share - 8)) * ROW + 4 };
  const boxes = Array.from({ length: processes }, (_, process) => ({ process, x: process * share + 4, ...box }));
  return { cards, boxes, inside, line, height: bottom + box.height + 4, wide };
}

/** Where everybody is. */
export function placesOf(plan: Plan, layout: Layout, now: readonly PersonNow[]): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const box of layout.boxes) {
    const home = now.filter(({ process }) => process === box.process).toSorted((a, b) => numberOf(a) - numberOf(b));
    home.forEach((person, i) => {
      const center = box.x + box.width / 2;
      places.set(person.who, rows(i, home.length, center, box.y + LABEL + ROW / 2, perRow(box.width)));
    });
  }
  for (const card of layout.cards) {
    const here = now.filter(({ thing, who }) => (thing ?? firstOf(plan)) === card.thing && who);
    placeWinners(plan, card, here, places);
    const center = card.x + card.width / 2;
    const inside = here.filter(({ doing }) => doing === 'inside');
    inside.forEach(({ who }, i) => {
      places.set(who, rows(i, inside.length, center, layout.inside, perRow(card.width)));
    });
    const waiting = here.filter(({ doing }) => doing === 'waiting');
    waiting.forEach(({ who }, i) => {
      const upright = { x: center, y: layout.line + i * IN_LINE };
      places.set(who, layout.wide ? rows(i, waiting.length, center, layout.line, perRow(card.width)) : upright);
    });
  }
  return places;
}

const firstOf = ({ side }: Plan): number => side.things[0]!.thing;

export const numberOf = ({ who }: { readonly who: string }): number => Number(who.replace(/^\D+/, ''));

/** Those whose unit it is on the slots, the others below them. */
function placeWinners(plan: Plan, card: Card, here: readonly PersonNow[], places: Map<string, Place>): void {
  const order = plan.side.happenings.filter(({ what }) => what === 'writes').map(({ who }) => who);
  const winners = here
    .filter(({ doing }) => doing === 'won' || doing === 'wrong')
    .toSorted((a, b) => order.indexOf(a.who) - order.indexOf(b.who));
  const rightful = winners.filter(({ doing }) => doing === 'won');
  // A segment that has no unit left gets one from another.
  const below = [...rightful.slice(card.units), ...winners.filter(({ doing }) => doing === 'wrong')];
  rightful.slice(0, card.units).forEach(({ who }, i) => {
    places.set(who, card.slots[i]!);
  });
  const top = card.slots.at(-1)!.y + ROW;
  below.forEach(({ who }, i) => {
    places.set(who, rows(i, below.length, card.x + card.width / 2, top, perRow(card.width)));
  });
}
