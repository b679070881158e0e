import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What came of a mutant. `unreached`: no test comes by its place. */
export interface Result {
  readonly id: string;
  readonly verdict: 'killed' | 'survived' | 'unreached';
  readonly by?: string;
  readonly how?: string;
}

/** What is kept of a file's mutants: those that live by their ids, and of those that are killed a short digest of each id. */
interface Line {
  readonly file: string;
  readonly killed?: string;
  readonly survived?: readonly string[];
  readonly unreached?: readonly string[];
}

const DIGEST = 6;
const digest = (id: string): string => createHash('sha1').update(id).digest('base64url').slice(0, DIGEST);
const fileOf = (id: string): string => id.slice(0, id.indexOf('#'));

/** Verdicts in a file, a line for each source, in the order of their names; so two runs in two branches merge. */
export class Results {
  readonly #path: string;
  /** The digests of a file. */
  readonly #killed = new Map<string, Set<string>>();
  readonly #alive = new Map<string, 'survived' | 'unreached'>();

  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    for (const text of readFileSync(path, 'utf8').split('\n')) {
      if (text === '') continue;
      const { file, killed = '', survived = [], unreached = [] } = JSON.parse(text) as Line;
      this.#killed.set(file, new Set(killed.match(/.{6}/g)));
      for (const id of survived) this.#alive.set(`${file}#${id}`, 'survived');
      for (const id of unreached) this.#alive.set(`${file}#${id}`, 'unreached');
    }
  }

  get(id: string): Pick<Result, 'verdict'> | undefined {
    const alive = this.#alive.get(id);
    if (alive) return { verdict: alive };
    return this.#killed.get(fileOf(id))?.has(digest(id)) ? { verdict: 'killed' } : undefined;
  }

  add({ id, verdict }: Pick<Result, 'id' | 'verdict'>): void {
    const file = fileOf(id);
    const killed = this.#killed.get(file) ?? new Set();
    this.#killed.set(file, killed);
    if (verdict === 'killed') {
      this.#alive.delete(id);
      killed.add(digest(id));
    } else {
      killed.delete(digest(id));
      this.#alive.set(id, verdict);
    }
  }

  /** Only what is still a mutant. */
  save(still: ReadonlySet<string>): void {
    const lines = [...Map.groupBy(still, fileOf)].flatMap(([file, ids]) => {
      const having = (verdict: Result['verdict']): string[] => ids.filter((id) => this.get(id)?.verdict === verdict);
      const alive = (verdict: 'survived' | 'unreached'): Partial<Line> => {
        const own = having(verdict).map((id) => id.slice(file.length + 1));
        return own.length > 0 ? { [verdict]: own.toSorted() } : {};
      };
      const killed = having('killed').map(digest).toSorted().join('');
      const line = { file, ...(killed && { killed }), ...alive('survived'), ...alive('unreached') };
      return Object.keys(line).length > 1 ? [line] : [];
    });
    lines.sort((a, b) => (a.file < b.file ? -1 : 1));
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}
