/** What a page wants to see. It stands in the address of the page, so it has no types of the server's in it. */
export interface Query {
  /** Keys and labels with this text in them. */
  readonly q: string;
  /** Keys that begin with this. */
  readonly in: string;
  readonly show: Show;
  readonly sort: Sort;
  /** The other way round. */
  readonly up: boolean;
  /** How many rows. */
  readonly rows: number;
  /** The key whose line is open. */
  readonly key: string | undefined;
  /** Keys that are shown over time. */
  readonly lines: readonly string[];
  /** Whether it is shown who waits for whom. */
  readonly graph: boolean;
}

export const SHOWS = ['all', 'contested', 'held'] as const;
export type Show = (typeof SHOWS)[number];
export const SORTS = ['trouble', 'key', 'holder', 'held', 'left', 'waiting'] as const;
export type Sort = (typeof SORTS)[number];

export const FIRST_ROWS = 100;
export const MOST_ROWS = 1_000;
/** Keys over time at once, and in a window. */
export const MOST_LANES = 8;
/** Bytes of a key in UTF-8 are fewer; a filter needs no more. */
const LONGEST = 512;

/** Whatever stands in an address: what is wrong there is left out. */
export function queryOf(params: URLSearchParams): Query {
  const text = (name: string): string => (params.get(name) ?? '').slice(0, LONGEST);
  const among = <T extends string>(name: string, known: readonly T[]): T =>
    known.find((each) => each === params.get(name)) ?? known[0]!;
  const rows = Number(params.get('rows'));
  return {
    q: text('q'),
    in: text('in'),
    show: among('show', SHOWS),
    sort: among('sort', SORTS),
    up: params.get('up') === '1',
    rows: Number.isInteger(rows) && rows > 0 ? Math.min(rows, MOST_ROWS) : FIRST_ROWS,
    key: params.has('key') && text('key') !== '' ? text('key') : undefined,
    lines: [...new Set(params.getAll('line').map((key) => key.slice(0, LONGEST)))].filter(Boolean).slice(0, MOST_LANES),
    graph: params.get('graph') === '1',
  };
}

/** The same as an address has it: only what differs from what is usual. */
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
