/** What came of one suite on one server: a file in the ignored folder `.results/matrix`. */
export interface Result {
  readonly server: string;
  /** By the word of the server itself. */
  readonly version: string;
  /** Where it was had. */
  readonly from: string;
  readonly suite: string;
  /** Of a run over one client: as the page names it, and how it was set. */
  readonly client?: string;
  readonly setting?: string;
  /** Versions by the names of their packages. */
  readonly clients: Readonly<Record<string, string>>;
  readonly runtime: string;
  /** Of `src`, by which git knows what was run; absent if something was not committed. */
  readonly sources?: string;
  readonly date: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The names of what failed. */
  readonly failures: readonly string[];
}

type Setting = Pick<Result, 'version' | 'clients' | 'runtime' | 'sources'>;

/** Whether the same was run already. */
export const isSame = (a: Setting, b: Setting): boolean =>
  a.sources !== undefined &&
  a.sources === b.sources &&
  a.version === b.version &&
  a.runtime === b.runtime &&
  JSON.stringify(a.clients) === JSON.stringify(b.clients);
