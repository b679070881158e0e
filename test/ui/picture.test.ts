import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BOX, pictureOf } from '../../products/ui/page/picture.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Points along a path of moves, lines and curves, close to each other. */
function* along(path: string): Iterable<Point> {
  let at: Point = { x: 0, y: 0 };
  for (const [, command, numbers] of path.matchAll(/([MLC])([^MLC]*)/g)) {
    const values = numbers!.trim().split(/[ ,]+/).map(Number);
    const points = values.flatMap((x, i) => (i % 2 === 0 ? [{ x, y: values[i + 1]! }] : []));
    const [a, b, end] = command === 'C' ? (points as [Point, Point, Point]) : [at, points[0]!, points[0]!];
    if (command !== 'M')
      for (let t = 0; t <= 1; t += 0.01) {
        const on = (axis: 'x' | 'y'): number =>
          (1 - t) ** 3 * at[axis] +
          3 * (1 - t) ** 2 * t * a[axis] +
          3 * (1 - t) * t ** 2 * b[axis] +
          t ** 3 * end[axis];
        yield { x: on('x'), y: on('y') };
      }
    at = end;
  }
}

/** Up to twelve nodes in five layers, and arrows among them, also back and inside of one layer. */
const graphs = fc
  .array(fc.nat(4), { minLength: 2, maxLength: 12 })
  .chain((layers) => {
    const node = fc.nat(layers.length - 1);
    const edges = fc.uniqueArray(fc.tuple(node, node), { maxLength: 20, selector: String });
    return fc.record({ layers: fc.constant(layers), edges });
  })
  .map(({ layers, edges }) => ({
    nodes: layers.map((layer, i) => ({ id: `${i}`, what: 'key' as const, name: `${i}`, layer })),
    edges: edges.map(([from, to]) => ({ from: `${from}`, to: `${to}`, for: 0, stuck: false })),
  }));

test('an arrow runs through no node, leads from one to the other, and stays in the picture', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const { places, ways, width, height } = pictureOf(graph);
      for (const [i, { from, to }] of graph.edges.entries()) {
        const points = [...along(ways[i]!.path)];
        expect(points[0], `where ${from} to ${to} begins`).toEqual({
          x: places.get(from)!.x + BOX.width,
          y: places.get(from)!.y + BOX.height / 2,
        });
        for (const { x, y } of points) {
          const met = [...places].filter(
            ([, place]) => x > place.x + 1 && x < place.x + BOX.width - 1 && y > place.y && y < place.y + BOX.height,
          );
          expect(met, `nodes at ${x}, ${y}, on the way from ${from} to ${to}`).toEqual([]);
          expect(x >= 0 && x <= width && y >= 0 && y <= height, `${x}, ${y} is in ${width} x ${height}`).toBe(true);
        }
      }
      for (const [id, { x, y }] of places)
        for (const [other, place] of places)
          if (id < other) expect(Math.abs(place.x - x) >= BOX.width || Math.abs(place.y - y) >= BOX.height).toBe(true);
    }),
  );
});

test('two arrows that skip the same column do not become one', () => {
  const node = (id: string, layer: number) => ({ id, what: 'key' as const, name: id, layer });
  const edge = (from: string, to: string) => ({ from, to, for: 0, stuck: false });
  const { ways } = pictureOf({
    nodes: [node('a', 0), node('b', 1), node('c', 2), node('d', 2)],
    edges: [edge('c', 'b'), edge('b', 'a'), edge('c', 'a'), edge('d', 'a')],
  });
  const middles = ways.slice(2).map(({ path }) => [...along(path)].find(({ x }) => x > 320)!.y);
  expect(new Set(middles).size, 'heights in the column between').toBe(2);
});
