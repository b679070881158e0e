import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { identityIn } from './identity.ts';

/** What came of a mutant. `unreached`: no test comes by its place. */
export interface Result {
  readonly id: string;
  readonly verdict: 'killed' | 'survived' | 'unreached';
  readonly by?: string;
  readonly how?: string;
}

/** What is kept of a file's mutants: the ids of those that live, and the identities of those that are killed. */
interface Line {
  readonly file: string;
  readonly killed?: string;
  readonly survived?: readonly string[];
  readonly unreached?: readonly string[];
}

const fileOf = (id: string): string => id.slice(0, id.indexOf('#'));

/**
 * Verdicts in a file, a line for each source, in the order of their names; so two runs in two branches merge. A verdict is of a
 * declaration, wherever that stands now.
 */
export class Results {
  readonly #path: string;
  /** By identity. */
  readonly #verdicts = new Map<string, Result['verdict']>();

  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    for (const text of readFileSync(path, 'utf8').split('\n')) {
      if (text === '') continue;
      const { killed = '', survived = [], unreached = [] } = JSON.parse(text) as Line;
      for (const identity of killed.match(/.{6}/g) ?? []) this.#verdicts.set(identity, 'killed');
      for (const id of survived) this.#verdicts.set(identityIn(id), 'survived');
      for (const id of unreached) this.#verdicts.set(identityIn(id), 'unreached');
    }
  }

  get(id: string): Pick<Result, 'verdict'> | undefined {
    const verdict = this.#verdicts.get(identityIn(id));
    return verdict && { verdict };
  }

  add({ id, verdict }: Pick<Result, 'id' | 'verdict'>): void {
    this.#verdicts.set(identityIn(id), verdict);
  }

  /** Only what is still a mutant. */
  save(still: ReadonlySet<string>): void {
    const lines = [...Map.groupBy(still, fileOf)].flatMap(([file, ids]) => {
      const having = (verdict: Result['verdict']): string[] => ids.filter((id) => this.get(id)?.verdict === verdict);
      const alive = (verdict: 'survived' | 'unreached'): Partial<Line> => {
        const own = having(verdict).map((id) => id.slice(file.length + 1));
        return own.length > 0 ? { [verdict]: own.toSorted() } : {};
      };
      const killed = having('killed').map(identityIn).toSorted().join('');
      const line = { file, ...(killed && { killed }), ...alive('survived'), ...alive('unreached') };
      return Object.keys(line).length > 1 ? [line] : [];
    });
    lines.sort((a, b) => (a.file < b.file ? -1 : 1));
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}
