import { DatabaseSync } from 'node:sqlite';

/** One tap of a driver, as recorded; `token` is 0 without a lock. */
export interface Section {
  readonly order: number;
  readonly driver: string;
  readonly token: bigint;
  readonly won: boolean;
}

/**
 * The service's own table: a grab reads the order, thinks, and writes. Nothing here keeps two drivers apart. That is the work
 * of the lock, and the point of the demo.
 */
export class Orders {
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec(`PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, driver TEXT);
      CREATE TABLE IF NOT EXISTS sections (seq INTEGER PRIMARY KEY, "order" INTEGER, driver TEXT, token INTEGER, won INTEGER)`);
  }

  add(count: number): void {
    const insert = this.#db.prepare('INSERT INTO orders (id) VALUES (?)');
    for (let id = 1; id <= count; id++) insert.run(id);
  }

  /** @returns whether this driver took the order */
  async grab(order: number, driver: string, token: bigint, think: () => Promise<void>): Promise<boolean> {
    const row = this.#db.prepare('SELECT driver FROM orders WHERE id = ?').get(order);
    const won = row?.driver === null;
    if (won) {
      await think();
      this.#db.prepare('UPDATE orders SET driver = ? WHERE id = ?').run(driver, order);
    }
    this.#db
      .prepare('INSERT INTO sections ("order", driver, token, won) VALUES (?, ?, ?, ?)')
      .run(order, driver, token, won ? 1 : 0);
    return won;
  }

  sections(): Section[] {
    const query = this.#db.prepare('SELECT "order", driver, token, won FROM sections ORDER BY seq');
    query.setReadBigInts(true);
    return query.all().map((row) => ({
      order: Number(row.order),
      driver: String(row.driver),
      token: row.token as bigint,
      won: row.won === 1n,
    }));
  }

  close(): void {
    this.#db.close();
  }
}
