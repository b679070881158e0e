import { type Cell, type Entry, type Reply, readsOf, type Status, type Step } from '../cell.ts';
import { decide, type View } from '../rule.ts';
import { formatKept, type Layout, type LayoutVersion, parseKept, type StockStore } from '../store.ts';

/** What differs between the databases, as data. */
interface StockDialect {
  readonly mark: (n: number) => string;
  /** The type of a column of names. Names are ASCII and are compared byte by byte. */
  readonly name: (length: number) => string;
  readonly text: string;
  readonly insertNew: readonly [before: string, after: string];
  readonly forUpdate: string;
  /** An expression for the time: ms since 1970 by the database's clock, when the statement begins or later. */
  readonly now: string;
  /** An extra column in the statement that reads a row to change it. It makes the commit wait for the disk. */
  readonly durable: string;
}

const MYSQL: StockDialect = {
  mark: () => '?',
  name: (length) => `varchar(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  text: 'mediumtext CHARACTER SET ascii',
  insertNew: ['INSERT IGNORE INTO', ''],
  forUpdate: ' FOR UPDATE',
  now: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000",
  durable: '', // a setting of the whole server decides what a commit waits for
};

export const DIALECTS: Readonly<Record<'postgres' | 'mysql' | 'mariadb' | 'sqlite', StockDialect>> = {
  postgres: {
    mark: (n) => `$${n}`,
    name: () => 'text',
    text: 'text',
    insertNew: ['INSERT INTO', ' ON CONFLICT DO NOTHING'],
    forUpdate: ' FOR UPDATE',
    now: 'CAST(extract(epoch from clock_timestamp()) * 1000 AS bigint)',
    // If a server answers before a sale is on disk, and is then killed, it sells the unit twice.
    durable:
      ", CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END AS durable",
  },
  mysql: MYSQL,
  mariadb: MYSQL,
  sqlite: {
    mark: () => '?',
    name: () => 'TEXT',
    text: 'TEXT',
    insertNew: ['INSERT INTO', ' ON CONFLICT DO NOTHING'],
    forUpdate: '', // the transaction has locked the whole file
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    durable: '', // sql.ts sets it for the whole file
  },
};

export type Row = Readonly<Record<string, unknown>>;
export type Statement = readonly [sql: string, params: readonly (string | number)[]];
/** Statements one after the other, in one transaction. Each `yield` returns the rows of its statement. */
export type Conversation<T> = Generator<Statement, T, readonly Row[]>;

/** @param run runs a conversation in a transaction; after a rollback it may begin a new one */
export const storeOn = (
  name: string,
  statements: Statements,
  run: <T>(begin: () => Conversation<T>) => Promise<T>,
): StockStore => ({
  name,
  servers: 1,
  layout: (product) => run(() => statements.layout(product)),
  relayout: (product, was, layout) => run(() => statements.relayout(product, was, layout)),
  step: (address, cell, steps) => run(() => statements.step(address, cell, steps)),
  clear: (address, cell) => run(() => statements.clear(address, cell)),
});

/** One cell. The column `product` has its address (store.ts). */
const HERE = 'product = ? AND cell = ?';

/** The most requests that one step gives back, adds up or deletes. The next step does the rest. */
const MAX_REQUESTS = 1_000;

/** The longest encoded names (input.ts): of a product or a buyer, and of a request with its buyer. */
const NAME_LENGTH = 384;
const ID_LENGTH = 2 * NAME_LENGTH + 4;

/**
 * The tables in a SQL database, and the conversation of each call. The SQL is here and not in .sql files, because each statement is
 * one line, depends on the database, and makes sense only in its place in the conversation.
 */
export class Statements {
  readonly #dialect: StockDialect;
  readonly #layouts: string;
  readonly #cells: string;
  readonly #requests: string;
  readonly #prefix: string;

  /** @param prefix the checked prefix of the tables' names */
  constructor(dialect: StockDialect, prefix: string) {
    this.#dialect = dialect;
    this.#prefix = prefix;
    this.#layouts = `${prefix}_layouts`;
    this.#cells = `${prefix}_cells`;
    this.#requests = `${prefix}_requests`;
  }

  setup(): string[] {
    const { name, text } = this.#dialect;
    const of = `product ${name(NAME_LENGTH)} NOT NULL`;
    const bare = this.#prefix.split('.').at(-1); // an index is in the schema of its table
    const indices = ['buyer, status', 'status, expires'].map(
      (columns) => `INDEX ${bare}_${columns.slice(0, 5)} ON ${this.#requests} (product, cell, ${columns})`,
    );
    return [
      `CREATE TABLE IF NOT EXISTS ${this.#layouts} (${of} PRIMARY KEY, version integer NOT NULL, body ${text} NOT NULL)`,
      `CREATE TABLE IF NOT EXISTS ${this.#cells} (${of}, cell integer NOT NULL, state ${text} NOT NULL, PRIMARY KEY (product, cell))`,
      `CREATE TABLE IF NOT EXISTS ${this.#requests} (${of}, cell integer NOT NULL, id ${name(ID_LENGTH)} NOT NULL,
        buyer ${name(NAME_LENGTH)} NOT NULL, units integer NOT NULL, status ${name(9)} NOT NULL, expires bigint NOT NULL,
        PRIMARY KEY (product, cell, id))`,
      // MySQL has no IF NOT EXISTS for an index, so sql.ts ignores the error.
      ...indices.map((index) => `CREATE ${index}`),
    ];
  }

  *layout(product: string): Conversation<Layout | undefined> {
    const [row] = yield this.#say(`SELECT body FROM ${this.#layouts} WHERE product = ?`, product);
    return row && parseKept(String(row.body));
  }

  *relayout(product: string, was: LayoutVersion | undefined, layout: Layout | undefined): Conversation<boolean> {
    const [before, after] = this.#dialect.insertNew;
    const { forUpdate, durable } = this.#dialect;
    const find = `SELECT version, body${durable} FROM ${this.#layouts} WHERE product = ?${forUpdate}`;
    if (!was) {
      const empty = `${before} ${this.#layouts} (product, version, body) VALUES (?, 0, '')${after}`;
      yield this.#say(empty, product);
    }
    const [row] = yield this.#say(find, product);
    const version = Number(row?.version ?? -1);
    if (version !== (was?.version ?? 0)) return false;
    if (was && parseKept(String(row!.body)).identity !== was.identity) return false;
    if (!layout) {
      yield this.#say(`DELETE FROM ${this.#layouts} WHERE product = ?`, product);
      return true;
    }
    const update = `UPDATE ${this.#layouts} SET version = ?, body = ? WHERE product = ?`;
    yield this.#say(update, layout.version, formatKept(layout), product);
    return true;
  }

  *step(address: string, cell: number, steps: readonly Step[]): Conversation<readonly Reply[]> {
    const { insertNew, forUpdate, durable, now: clock } = this.#dialect;
    const { ids, buyers, opens, tally } = readsOf(steps);
    const here = [address, cell] as const;
    if (opens) {
      const sql = `${insertNew[0]} ${this.#cells} (product, cell, state) VALUES (?, ?, '')${insertNew[1]}`;
      yield this.#say(sql, ...here);
    }
    const find = `SELECT state${durable} FROM ${this.#cells} WHERE ${HERE}${forUpdate}`;
    const [row] = yield this.#say(find, ...here);
    if (!row) return steps.map(() => ({ is: 'missing' }));
    const text = String(row.state); // bytes, if the character set of the connection is `binary`
    const state = text === '' ? undefined : parseKept<Cell>(text);

    const entries = `SELECT id, buyer, units, status, expires FROM ${this.#requests} WHERE ${HERE}`;
    // This statement waits for nothing, so it reads the time. The one before may wait for the cell: its time would be from before the wait,
    // during which another step may have stored times by a clock that was set back.
    const due = `${entries} AND status = 'reserved' AND expires <= ${clock} ORDER BY expires LIMIT ${MAX_REQUESTS}`;
    const moment = `SELECT '' AS id, '' AS buyer, 0 AS units, 'now' AS status, ${clock} AS expires`;
    const found = yield this.#say(`${moment} UNION ALL SELECT * FROM (${due}) AS due`, ...here);
    const over = found.filter(({ status }) => String(status) !== 'now').map(entryOf);
    const now = Number(found.find(({ status }) => String(status) === 'now')!.expires);
    const known = new Map(over.map((entry) => [entry.id, entry]));
    for (const id of ids) {
      const [found] = yield this.#say(`${entries} AND id = ?`, ...here, id);
      if (found) known.set(id, entryOf(found));
    }
    const bought = new Map<string, number>();
    for (const buyer of buyers) {
      const sum = `SELECT SUM(units) AS bought FROM ${this.#requests} WHERE ${HERE} AND buyer = ? AND status IN ('reserved', 'sold')`;
      const [found] = yield this.#say(sum, ...here, buyer);
      bought.set(buyer, Number(found?.bought ?? 0));
    }
    const portion = tally && (yield* this.#portion(entries, address, cell, tally.from ?? ''));

    const outcome = decide(
      { cell: state, entries: [...known.values()], bought, ...(portion && { portion }) },
      steps,
      now,
    );
    for (const { id, buyer, units, status, until } of outcome.written) {
      // Not "insert or update": on MySQL that statement locks gaps between rows, which causes deadlocks.
      yield known.has(id)
        ? this.#say(
            `UPDATE ${this.#requests} SET status = ?, expires = ? WHERE ${HERE} AND id = ?`,
            status,
            until,
            ...here,
            id,
          )
        : this.#say(
            `INSERT INTO ${this.#requests} (product, cell, id, buyer, units, status, expires) VALUES (?, ?, ?, ?, ?, ?, ?)`,
            ...[...here, id, buyer, units, status, until],
          );
    }
    if (outcome.cell !== state) {
      yield this.#say(`UPDATE ${this.#cells} SET state = ? WHERE ${HERE}`, formatKept(outcome.cell), ...here);
    }
    return outcome.replies;
  }

  /** The next requests of a cell, with ids after `from`. @param entries the statement that reads all requests of a cell */
  *#portion(entries: string, address: string, cell: number, from: string): Conversation<View['portion']> {
    const rows = yield this.#say(`${entries} AND id > ? ORDER BY id LIMIT ${MAX_REQUESTS}`, address, cell, from);
    const found = rows.map(entryOf);
    return { entries: found, next: found.length < MAX_REQUESTS ? undefined : found.at(-1)!.id };
  }

  *clear(address: string, cell: number): Conversation<boolean> {
    // The cell is deleted first: without it, no step adds requests.
    yield this.#say(`DELETE FROM ${this.#cells} WHERE ${HERE}`, address, cell);
    const [last] = yield this.#say(
      `SELECT id FROM ${this.#requests} WHERE ${HERE} ORDER BY id LIMIT 1 OFFSET ${MAX_REQUESTS - 1}`,
      ...[address, cell],
    );
    const portion = last ? ' AND id <= ?' : '';
    const upTo = last ? [String(last.id)] : [];
    yield this.#say(`DELETE FROM ${this.#requests} WHERE ${HERE}${portion}`, address, cell, ...upTo);
    return !last;
  }

  #say(sql: string, ...params: (string | number)[]): Statement {
    let n = 0;
    return [sql.replaceAll('?', () => this.#dialect.mark(++n)), params];
  }
}

const entryOf = ({ id, buyer, units, status, expires }: Row): Entry => ({
  id: String(id),
  buyer: String(buyer),
  units: Number(units),
  status: String(status) as Status,
  until: Number(expires),
});
