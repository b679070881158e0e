/** Where things are in the picture: x in parts of 100 of its width, y in px. */
export interface Spot {
  readonly x: number;
  readonly y: number;
}

export const HEIGHT = 416;
const ENGINE_BOTTOM = 112;
const PEOPLE = { top: 178, bottom: 290 };
const RESOURCE_TOP = 354;

const COLUMNS = [16.667, 50, 83.333];

const columnOf = (who: string): number => COLUMNS['ABC'.indexOf(who)]!;

/** Wide cards are met at several points, so that links do not lie on each other. */
const aside = (x: number): number => 50 + (x - 50) * 0.45;

function engineX(name: string, count: number, from: string): number {
  const i = Number(name.slice('engine '.length)) - 1;
  if (count === 1) return aside(columnOf(from));
  if (count === 2) return [28, 72][i]!;
  return COLUMNS[i]!;
}

/** Both ends of the link between two; undefined where there is none to be seen. */
export function link(one: string, other: string, engines: number): readonly [Spot, Spot] | undefined {
  if (one.startsWith('engine') && other.startsWith('engine')) {
    const [from, to] = [one, other].map((name) => ({ x: engineX(name, engines, 'B'), y: ENGINE_BOTTOM / 2 }));
    return [from!, to!];
  }
  const [person, place] = one.length === 1 ? [one, other] : [other, one];
  const x = columnOf(person);
  const ends: readonly [Spot, Spot] = place.startsWith('engine')
    ? [
        { x, y: PEOPLE.top },
        { x: engineX(place, engines, person), y: ENGINE_BOTTOM },
      ]
    : [
        { x, y: PEOPLE.bottom },
        { x: aside(x), y: RESOURCE_TOP },
      ];
  return one === person ? ends : [ends[1], ends[0]];
}

export const between = ([from, to]: readonly [Spot, Spot], part: number): Spot => ({
  x: from.x + (to.x - from.x) * part,
  y: from.y + (to.y - from.y) * part,
});
