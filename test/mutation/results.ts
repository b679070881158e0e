import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What came of a mutant. `unreached`: no test comes by its place. */
export interface Result {
  readonly id: string;
  readonly verdict: 'killed' | 'survived' | 'unreached';
  readonly by?: string;
  readonly how?: string;
}

/** Verdicts in a file, a line each, in the order of their ids; so two runs in two branches merge. */
export class Results {
  readonly #path: string;
  readonly #known = new Map<string, Result>();

  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '') continue;
      const result = JSON.parse(line) as Result;
      this.#known.set(result.id, result);
    }
  }

  get(id: string): Result | undefined {
    return this.#known.get(id);
  }

  all(): readonly Result[] {
    return [...this.#known.values()];
  }

  add(result: Result): void {
    this.#known.set(result.id, result);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** Only what is still a mutant. */
  save(still: ReadonlySet<string>): void {
    const lines = [...this.#known.values()]
      .filter(({ id }) => still.has(id))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((result) => `${JSON.stringify(result)}\n`);
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, lines.join(''));
  }
}
