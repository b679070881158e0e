import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { placeOf } from './identity.ts';

/** What came of a mutant. `unreached`: no test comes by its place. */
export interface Result {
  readonly id: string;
  readonly verdict: 'killed' | 'survived' | 'unreached';
  readonly by?: string;
  readonly how?: string;
}

const VERDICTS = ['killed', 'survived', 'unreached'] as const;
/** What is kept of a file's mutants: the rest of the place of each, by verdict. */
type Line = { readonly file: string } & Partial<Record<Result['verdict'], readonly string[]>>;

const fileOf = (id: string): string => id.slice(0, id.indexOf('#'));

/** Verdicts in a file, a line for each source. A verdict holds as long as the declaration is the same but for its comments and its layout. */
export class Results {
  readonly #path: string;
  readonly #verdicts = new Map<string, Result['verdict']>();

  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    for (const text of readFileSync(path, 'utf8').split('\n')) {
      if (text === '') continue;
      const line = JSON.parse(text) as Line;
      for (const verdict of VERDICTS)
        for (const rest of line[verdict] ?? []) this.#verdicts.set(`${line.file}#${rest}`, verdict);
    }
  }

  get(id: string): Pick<Result, 'verdict'> | undefined {
    const verdict = this.#verdicts.get(placeOf(id));
    return verdict && { verdict };
  }

  add({ id, verdict }: Pick<Result, 'id' | 'verdict'>): void {
    this.#verdicts.set(placeOf(id), verdict);
  }

  /** Only what is still a mutant. */
  save(still: ReadonlySet<string>): void {
    const lines = [...Map.groupBy(still, fileOf)].flatMap(([file, ids]) => {
      const having = (verdict: Result['verdict']): string[] =>
        ids
          .filter((id) => this.get(id)?.verdict === verdict)
          .map((id) => placeOf(id).slice(file.length + 1))
          .toSorted();
      const found = VERDICTS.map((verdict) => [verdict, having(verdict)] as const);
      const kept = found.filter(([, places]) => places.length > 0);
      return kept.length > 0 ? [{ file, ...Object.fromEntries(kept) }] : [];
    });
    lines.sort((a, b) => (a.file < b.file ? -1 : 1));
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}
