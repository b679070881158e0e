import { mostOf, type QueueEntry } from '../../src/core/index.ts';
import { queuesOf, type WaitsClaim } from '../../src/waits/claims.ts';
import { Suspects } from '../../src/waits/suspects.ts';
import { type KeyQueueView, type ListedClaim, processOf } from './claim.ts';
import { beganAt } from './history.ts';
import type { Deadlock, Graph, GraphEdge, GraphNode } from './wire.ts';

/** How many keys of deadlocks `CloseUp` looks at, to see whether the deadlocks last. */
const MAX_KEYS = 32;

/** Finds claims that wait for each other without an end. A deadlock is reported when later looks at each of its keys have confirmed it. */
export class Deadlocks {
  readonly #suspects = new Suspects();
  #confirmed: readonly Deadlock[] = [];

  get confirmed(): readonly Deadlock[] {
    return this.#confirmed;
  }

  get keys(): readonly string[] {
    return this.#suspects.keys.slice(0, MAX_KEYS);
  }

  look(views: Iterable<KeyQueueView>): void {
    const contested = new Map([...views].filter(({ waiters }) => waiters.length > 0).map((view) => [view.key, view]));
    const all = queuesOf([...contested.values()].flatMap(entriesOf));
    const found = this.#suspects.look(all, ({ key }) => {
      const { at } = contested.get(key)!;
      return { began: at, ended: at };
    });
    this.#confirmed = found.map(({ claims: ids, cycle }) => {
      const round = cycle.map((id) => all.claims.get(id)!);
      return { steps: round.map(stepOf), victim: victimOf(round, contested), claims: ids.length };
    });
  }
}

/** Chooses the youngest hold, because it has the least work to lose. */
function victimOf(round: readonly WaitsClaim[], views: ReadonlyMap<string, KeyQueueView>): Deadlock['victim'] {
  const began = ({ key, token }: WaitsClaim): number =>
    beganAt(views.get(key)!.holders.find((holder) => holder.token === token)!);
  const youngest = round.filter(({ held }) => held).sort((a, b) => began(b) - began(a))[0];
  return youngest ? stepOf(youngest) : null;
}

const stepOf = (claim: WaitsClaim): Deadlock['steps'][number] => {
  const { label, key, held, token } = claim;
  return { label, key, held, token: `${token}`, process: processOf(claim) };
};

const entriesOf = ({ key, holders, waiters, at }: KeyQueueView): QueueEntry[] =>
  [...holders, ...waiters].map(({ token, units, capacity, label, origin, expires }, position) => {
    return {
      key,
      held: position < holders.length,
      position,
      token,
      units,
      capacity,
      label,
      origin,
      remaining: expires - at,
    };
  });

/** How many processes and keys are shown: deadlocks first, then the longest waits. */
const MAX_NODES = 60;

interface Node extends Pick<GraphNode, 'id' | 'what' | 'name'> {
  /** The nodes that this node leads to, and since when, ms. */
  readonly to: Map<string, number>;
}

const idOf = (what: GraphNode['what'], name: string): string => `${what} ${name}`;

/**
 * Which processes wait for which others, over all keys. An arrow leads from a waiting process to its key, and from the key to each process
 * that holds it. Nodes are in layers; a node that waits for nobody is in the first layer.
 */
export function graphOf(views: Iterable<KeyQueueView>, deadlocks: readonly Deadlock[], now: number): Graph {
  const contested = [...views].filter(({ waiters }) => waiters.length > 0);
  const inRing = new Set(deadlocks.flatMap(({ steps }) => steps.map(({ key }) => key)));
  const rank = ({ key, waiters }: KeyQueueView): number =>
    inRing.has(key) ? Number.NEGATIVE_INFINITY : sinceOf(waiters[0]!);
  contested.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))); // the rings first

  const nodes = new Map<string, Node>();
  const left = new Set<string>();
  const node = (what: GraphNode['what'], whose: string, name: string): Node | undefined => {
    const id = idOf(what, whose);
    if (!nodes.has(id) && nodes.size >= MAX_NODES) left.add(id);
    else if (!nodes.has(id)) nodes.set(id, { id, what, name, to: new Map() });
    return nodes.get(id);
  };
  const link = (from: Node | undefined, to: Node | undefined, since: number): void => {
    if (!from || !to) return;
    const { id } = to;
    from.to.set(id, Math.min(since, from.to.get(id) ?? since));
  };
  for (const { key, holders, waiters } of contested) {
    const wanted = node('key', key, key);
    for (const holder of holders) link(wanted, node('process', processOf(holder), holder.label), sinceOf(holder));
    for (const waiter of waiters) link(node('process', processOf(waiter), waiter.label), wanted, sinceOf(waiter));
  }
  const layers = layersOf(nodes);
  const stuck = new Set(deadlocks.flatMap(({ steps }) => steps.map(edgeOf)));
  const edges = [...nodes].flatMap(([from, { to }]) =>
    [...to].map(([other, since]): GraphEdge => {
      return { from, to: other, for: Math.max(0, now - since), stuck: stuck.has(`${from}\n${other}`) };
    }),
  );
  const told = [...nodes].map(([id, { what, name }]): GraphNode => ({ id, what, name, layer: layers.get(id)! }));
  return { nodes: told.sort((a, b) => a.layer - b.layer), edges, more: left.size };
}

/** An arrow leads from a waiting claim to its key, and from a key to its holder. */
function edgeOf({ process, key, held }: Deadlock['steps'][number]): string {
  const [one, other] = [idOf('process', process), idOf('key', key)];
  return held ? `${other}\n${one}` : `${one}\n${other}`;
}

const sinceOf = ({ joined, firstSeen }: ListedClaim): number => joined ?? firstSeen;

/** The layer of each node: the length of the longest path from it without a repetition. Nodes that wait for nobody have 0. */
function layersOf(nodes: ReadonlyMap<string, Node>): ReadonlyMap<string, number> {
  const layers = new Map<string, number>();
  const onWay = new Set<string>();
  const layerOf = (id: string): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    onWay.add(id);
    const below = [...nodes.get(id)!.to.keys()].filter((other) => !onWay.has(other)).map(layerOf);
    onWay.delete(id);
    const layer = below.length === 0 ? 0 : 1 + mostOf(below);
    layers.set(id, layer);
    return layer;
  };
  for (const id of nodes.keys()) layerOf(id);
  return layers;
}
