import { mostOf } from '../../core/contract/extremes.ts';
import type { Node } from './node.ts';

/** The process that is next at a key, and how long it had waited when it wrote the note, ms. */
export interface Named {
  readonly id: string;
  readonly waited: number;
}

/** The longest time a node may take to read or write a note, ms. */
const WITHIN = 250;

const nameOf = (key: string): string => `\u0001quorum/next/${key}`;

/** The note at the nodes that says who is next at a key. Advice only: no vote depends on it, and it is over soon. */
export class NextNote {
  readonly #nodes: readonly Node[];
  readonly #majority: number;

  constructor(nodes: readonly Node[], majority: number) {
    this.#nodes = nodes;
    this.#majority = majority;
  }

  /** Whom a majority of the nodes names: who reaches fewer could keep the others waiting, and never be served. */
  read(key: string): Promise<Named | undefined> {
    return new Promise((resolve) => {
      const found: (Named | undefined)[] = [];
      const receive = (text: string | undefined): void => {
        found.push(text === undefined ? undefined : parsed(text));
        const named = namedBy(found, this.#nodes.length, this.#majority);
        if (named !== 'open') resolve(named);
      };
      for (const node of this.#nodes) {
        const asked = node.notes((notes) => notes.read(nameOf(key)), WITHIN);
        asked.then(receive, () => receive(undefined));
      }
    });
  }

  /** In the background. Without it whoever is next goes on by chance. */
  write(key: string, { id, waited }: Named, ttl: number): void {
    this.#put(key, `${id} ${Math.round(waited)}`, ttl);
  }

  forget(key: string): void {
    this.#put(key, undefined, 0);
  }

  #put(key: string, text: string | undefined, ttl: number): void {
    for (const node of this.#nodes) node.notes((notes) => notes.write(nameOf(key), text, ttl), WITHIN).catch(() => {});
  }
}

/** Parses a note. Returns undefined for a text of another version. */
function parsed(text: string): Named | undefined {
  const [, id, waited] = /^(\S+) (\d+)$/.exec(text) ?? [];
  return id === undefined ? undefined : { id, waited: Number(waited) };
}

/** @param found the answers so far; undefined for a node that names no process */
export function namedBy(
  found: readonly (Named | undefined)[],
  nodes: number,
  majority: number,
): Named | undefined | 'open' {
  let most = 0;
  for (const each of found) {
    const same = found.filter((other) => other && other.id === each?.id);
    // Some nodes may have an older note than others.
    if (same.length >= majority) return { id: each!.id, waited: mostOf(same.map((other) => other!.waited)) };
    most = Math.max(most, same.length);
  }
  return most + nodes - found.length < majority ? undefined : 'open';
}
