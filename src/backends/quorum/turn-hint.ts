import { mostOf } from '../../core/index.ts';
import type { Node } from './node.ts';

/** The process that is next at a key, and how long it had waited when it wrote the hint, ms. */
export interface NextProcess {
  readonly id: string;
  readonly waited: number;
}

const TIMEOUT_MS = 250;

const hintName = (key: string): string => `\u0001quorum/next/${key}`;

/** The hint at the nodes that says which process is next at a key. It is only advice: no vote depends on it, and it soon expires. */
export class TurnHint {
  readonly #nodes: readonly Node[];
  readonly #majority: number;
  /** Counts the calls of `names`, so that each asks another node. */
  #turn = 0;

  constructor(nodes: readonly Node[], majority: number) {
    this.#nodes = nodes;
    this.#majority = majority;
  }

  /** Gives the process that a majority of the nodes names. A process that reaches fewer nodes could make the others wait, but never win itself. */
  read(key: string): Promise<NextProcess | undefined> {
    return new Promise((resolve) => {
      const found: (NextProcess | undefined)[] = [];
      const receive = (text: string | undefined): void => {
        found.push(parse(text));
        const next = nextBy(found, this.#nodes.length, this.#majority);
        if (next !== 'open') resolve(next);
      };
      for (const node of this.#nodes) {
        const asked = node.hints((hints) => hints.read(hintName(key)), TIMEOUT_MS);
        asked.then(receive, () => receive(undefined));
      }
    });
  }

  /** True if one node says that this process is next. */
  async names(key: string, id: string): Promise<boolean> {
    const node = this.#nodes[this.#turn++ % this.#nodes.length]!;
    const text = await node.hints((hints) => hints.read(hintName(key)), TIMEOUT_MS).catch(() => undefined);
    return parse(text)?.id === id;
  }

  /** Writes the hint in the background. If that fails, chance decides which process gets the key next. */
  write(key: string, { id, waited }: NextProcess, ttl: number): void {
    this.#put(key, `${id} ${Math.round(waited)}`, ttl);
  }

  forget(key: string): void {
    this.#put(key, undefined, 0);
  }

  #put(key: string, text: string | undefined, ttl: number): void {
    for (const node of this.#nodes)
      node.hints((hints) => hints.write(hintName(key), text, ttl), TIMEOUT_MS).catch(() => {});
  }
}

/** @param text what a node keeps as the hint: undefined for none; a backend that a user wrote may give any value */
function parse(text: unknown): NextProcess | undefined {
  const [, id, waited] = (typeof text === 'string' && /^(\S+) (\d+)$/.exec(text)) || [];
  return id === undefined ? undefined : { id, waited: Number(waited) };
}

/** @param found the answers so far; undefined for a node that names no process */
export function nextBy(
  found: readonly (NextProcess | undefined)[],
  nodes: number,
  majority: number,
): NextProcess | undefined | 'open' {
  let most = 0;
  for (const each of found) {
    const same = found.filter((other) => other && other.id === each?.id);
    // Some nodes may have an older hint than others.
    if (same.length >= majority) return { id: each!.id, waited: mostOf(same.map((other) => other!.waited)) };
    most = Math.max(most, same.length);
  }
  return most + nodes - found.length < majority ? undefined : 'open';
}
