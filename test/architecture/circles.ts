import { posix } from 'node:path';
import { parseAst } from 'vitest/node';
import { imported, nodes } from './rules.ts';

/** The files that a file imports, types included. */
export function importsOf(path: string, text: string): string[] {
  const program = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' });
  return [...nodes(program)].flatMap((node) => {
    const from = imported(node)?.from;
    return from?.startsWith('.') ? [posix.join(posix.dirname(path), from)] : [];
  });
}

/**
 * The circles among files that import each other, as sorted lists: the strongly connected components of more than one file
 * (Tarjan, *Depth-first search and linear graph algorithms*, 1972).
 */
export function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  function visit(file: string): number {
    const number = numbers.size;
    numbers.set(file, number);
    open.push(file);
    let low = number;
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      if (!numbers.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, lowest.get(next) ?? numbers.get(next)!);
      lowest.set(file, low);
    }
    lowest.set(file, low);
    if (low === number) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) found.push(circle.sort());
    }
    return low;
  }
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return found;
}
