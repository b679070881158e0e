import { mostOf } from '../../../src/core/contract/extremes.ts';
import type { Graph } from '../wire.ts';

/** Sizes of the picture, in CSS pixels. */
export const BOX = { width: 190, height: 28 };
/** The distance of the left sides of two columns. Only arrows are between columns. */
const STEP = 260;
/** The gap between two slots of one column. */
const GAP = 14;
const MARGIN = 12;
/** How far an arrow back curves out to the side. `APART`: the distance between two such arrows below the nodes. */
const SWING = 45;
const APART = 10;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The upper left corner of each node, by its id. */
  readonly places: ReadonlyMap<string, Point>;
  /** The path of each edge, in the order of the edges. `back`: the edge leads back and closes a cycle. */
  readonly ways: readonly { readonly path: string; readonly back: boolean }[];
}

/** A place in a column: of a node, or of an edge that goes on to a column further right. */
interface Slot {
  readonly column: number;
  readonly height: number;
  /** The slots in the column on the left that lead to this slot. */
  readonly before: Slot[];
  y: number;
}

/**
 * Draws each node left of the nodes that it waits for. An edge never runs through a node, because the node would seem to be part of the
 * wait: an edge curves only between columns, has its own slot in each column that it crosses, and leads back below all nodes.
 */
export function pictureOf({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>): Picture {
  const layers = nodes.map(({ layer }) => layer);
  const columns = Array.from({ length: mostOf(layers, 0) + 1 }, (): Slot[] => []);
  const slotIn = (column: number, height: number): Slot => {
    const slot: Slot = { column, height, before: [], y: 0 };
    columns[column]!.push(slot);
    return slot;
  };
  const slots = new Map(nodes.map(({ id, layer }) => [id, slotIn(columns.length - 1 - layer, BOX.height)]));
  const routes = edges.map((edge): Slot[] => {
    const [from, to] = [slots.get(edge.from)!, slots.get(edge.to)!];
    const route = [from];
    for (let column = from.column + 1; column < to.column; column++) route.push(slotIn(column, 0));
    for (const [i, slot] of [...route.slice(1), to].entries())
      if (slot.column > from.column) slot.before.push(route[i]!);
    return [...route, to];
  });
  const floor = mostOf(columns.map(placed));
  const back = ([from, ...rest]: Slot[]): boolean => rest.at(-1)!.column <= from!.column;
  const side = routes.some(back) ? SWING : MARGIN;
  const xOf = ({ column }: Slot): number => side + column * STEP;
  let below = floor;
  const ways = routes.map((route) => {
    if (!back(route)) return { path: pathOf(route), back: false };
    below += APART;
    return { path: pathBack(route[0]!, route.at(-1)!, below), back: true };
  });
  return {
    places: new Map([...slots].map(([id, slot]) => [id, { x: xOf(slot), y: slot.y - BOX.height / 2 }])),
    ways,
    width: 2 * side + (columns.length - 1) * STEP + BOX.width,
    height: below + MARGIN,
  };

  /** A path to the right, straight through each column on the way. */
  function pathOf([from, ...rest]: Slot[]): string {
    let [x, y] = [xOf(from!) + BOX.width, from!.y];
    let path = `M${x} ${y}`;
    for (const slot of rest) {
      const half = (x + xOf(slot)) / 2;
      path += `C${half} ${y} ${half} ${slot.y} ${xOf(slot)} ${slot.y}`;
      [x, y] = [xOf(slot) + BOX.width, slot.y];
      if (slot !== rest.at(-1)) path += `L${x} ${y}`;
    }
    return path;
  }

  /** A path from the right side of a node, below all nodes, to the left side of the target, as all arrows end. */
  function pathBack(from: Slot, to: Slot, depth: number): string {
    const [right, left] = [xOf(from) + BOX.width, xOf(to)];
    return `M${right} ${from.y}C${right + SWING} ${from.y} ${right + SWING} ${depth} ${right} ${depth}L${left} ${depth}C${left - SWING} ${depth} ${left - SWING} ${to.y} ${left} ${to.y}`;
  }
}

/** Places the slots of a column below each other, in the order of those that lead to them. @returns the lower end */
function placed(column: readonly Slot[]): number {
  const wanted = (slot: Slot): number =>
    slot.before.length === 0
      ? Number.POSITIVE_INFINITY
      : slot.before.reduce((sum, { y }) => sum + y, 0) / slot.before.length;
  let end = MARGIN - GAP;
  for (const slot of [...column].sort((a, b) => (wanted(a) < wanted(b) ? -1 : wanted(a) > wanted(b) ? 1 : 0))) {
    slot.y = end + GAP + slot.height / 2;
    end += GAP + slot.height;
  }
  return end;
}
