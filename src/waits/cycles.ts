/** The arrows from each node. */
export type Arrows = ReadonlyMap<string, readonly string[]>;

/**
 * The strongly connected components that have a cycle (R. E. Tarjan, Depth-First Search and Linear Graph Algorithms, SIAM Journal on
 * Computing 1, 1972). Without recursion: a line may be longer than the stack is deep.
 */
export function components(nodes: Iterable<string>, arrows: Arrows): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  for (const root of nodes) {
    if (index.has(root)) continue;
    const calls: { readonly node: string; next: number }[] = [{ node: root, next: 0 }];
    while (calls.length > 0) {
      const call = calls.at(-1)!;
      const { node } = call;
      if (call.next === 0) {
        index.set(node, index.size);
        low.set(node, index.get(node)!);
        path.push(node);
        onPath.add(node);
      }
      const to = arrows.get(node)?.[call.next++];
      if (to !== undefined) {
        if (!index.has(to)) calls.push({ node: to, next: 0 });
        else if (onPath.has(to)) low.set(node, Math.min(low.get(node)!, index.get(to)!));
        continue;
      }
      calls.pop();
      const caller = calls.at(-1)?.node;
      if (caller !== undefined) low.set(caller, Math.min(low.get(caller)!, low.get(node)!));
      if (low.get(node) !== index.get(node)) continue;
      const component = path.splice(path.lastIndexOf(node));
      for (const member of component) onPath.delete(member);
      if (component.length > 1 || arrows.get(node)?.includes(node)) found.push(component);
    }
  }
  return found;
}

/** A shortest path from `start` back to it. */
export function cycleFrom(start: string, arrows: Arrows): string[] {
  const cameFrom = new Map<string, string>();
  const next = [start];
  for (const node of next) {
    for (const to of arrows.get(node) ?? []) {
      if (to === start) {
        const cycle: string[] = [];
        for (let at: string | undefined = node; at !== undefined; at = cameFrom.get(at)) cycle.push(at);
        return cycle.reverse();
      }
      if (cameFrom.has(to)) continue;
      cameFrom.set(to, node);
      next.push(to);
    }
  }
  return [];
}
