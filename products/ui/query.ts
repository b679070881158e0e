/** What a page wants to see. It is part of the page's address, so it uses no types of the server. */
export interface Query {
  /** Only keys and labels that contain this text. */
  readonly q: string;
  /** Only keys that begin with this. */
  readonly in: string;
  readonly show: Show;
  readonly sort: Sort;
  /** In the opposite order. */
  readonly up: boolean;
  /** How many rows. */
  readonly rows: number;
  /** The key whose line is open. */
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
/** Keys are shorter, and a filter needs no more characters. */
const MAX_KEY_LENGTH = 512;

/** Reads any address; it leaves out what is wrong there. */
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

/** Writes a query for an address: only what differs from the default. */
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
