/** What a page shows. The browser uses this module, too, so it needs nothing of the server. */
export interface Query {
  /** Only keys and labels that contain this text. */
  readonly q: string;
  /** Only keys that begin with this text. */
  readonly in: string;
  readonly show: Show;
  readonly sort: Sort;
  /** Whether the rows are in the opposite order. */
  readonly up: boolean;
  /** How many rows the page shows. */
  readonly rows: number;
  /** The key whose details are open. */
  readonly key: string | undefined;
  /** The keys on the time line. */
  readonly lines: readonly string[];
  /** Whether the page shows the graph of waits. */
  readonly graph: boolean;
}

const SHOWS = ['all', 'contested', 'held'] as const;
export type Show = (typeof SHOWS)[number];
const SORTS = ['trouble', 'key', 'holder', 'held', 'left', 'waiting'] as const;
export type Sort = (typeof SORTS)[number];

export const FIRST_ROWS = 100;
const MAX_ROWS = 1_000;
/** How many keys the time line has at once. */
const MAX_LANES = 8;
/** Longer keys and filters are cut: keys have at most 512 bytes. */
const MAX_KEY_LENGTH = 512;

/** Reads a query from any address. Wrong values become the defaults. */
export function queryOf(params: URLSearchParams): Query {
  const text = (name: string): string => (params.get(name) ?? '').slice(0, MAX_KEY_LENGTH);
  const among = <T extends string>(name: string, known: readonly T[]): T =>
    known.find((each) => each === params.get(name)) ?? known[0]!;
  const rows = Number(params.get('rows'));
  return {
    q: text('q'),
    in: text('in'),
    show: among('show', SHOWS),
    sort: among('sort', SORTS),
    up: params.get('up') === '1',
    rows: Number.isInteger(rows) && rows > 0 ? Math.min(rows, MAX_ROWS) : FIRST_ROWS,
    key: params.has('key') && text('key') !== '' ? text('key') : undefined,
    lines: [...new Set(params.getAll('line').map((key) => key.slice(0, MAX_KEY_LENGTH)))]
      .filter(Boolean)
      .slice(0, MAX_LANES),
    graph: params.get('graph') === '1',
  };
}

/** Writes a query for an address: only values that differ from the defaults. */
export function paramsOf(query: Query): URLSearchParams {
  const params = new URLSearchParams();
  if (query.q) params.set('q', query.q);
  if (query.in) params.set('in', query.in);
  if (query.show !== 'all') params.set('show', query.show);
  if (query.sort !== 'trouble') params.set('sort', query.sort);
  if (query.up) params.set('up', '1');
  if (query.rows !== FIRST_ROWS) params.set('rows', `${query.rows}`);
  if (query.key !== undefined) params.set('key', query.key);
  for (const key of query.lines) params.append('line', key);
  if (query.graph) params.set('graph', '1');
  return params;
}
