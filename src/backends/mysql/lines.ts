import type { Claim, Renewal } from '../../core/backend.ts';
import { type Line, rounds, stands } from './line.ts';
import { MICRO, mark } from './place.ts';
import { read, touch } from './sql.generated.ts';
import { claimsOf, namesOf, portions } from './statements.ts';
import type { Table } from './table.ts';

/** A renewal that comes late finds its claim gone, or does no harm. */
const FOREVER = `${Number.MAX_SAFE_INTEGER}`;

/** The lines of keys, as they stand in the table. */
export class Lines {
  readonly table: Table;
  readonly #prefix: string;

  constructor(table: Table, prefix: string) {
    this.table = table;
    this.#prefix = prefix;
  }

  /** The same lines over other connections. */
  over(table: Table): Lines {
    return new Lines(table, this.#prefix);
  }

  nameOf(key: string): Buffer {
    return Buffer.from(`${this.#prefix}/${key}`);
  }

  keyOf(name: unknown): string {
    return String(name).slice(this.#prefix.length + 1);
  }

  async read(keys: readonly string[]): Promise<Map<string, Line>> {
    const lines = new Map<string, Line>();
    for (const portion of portions(keys)) {
      const rows = await this.table.read(read, {}, namesOf(portion.map((key) => this.nameOf(key))));
      for (const { name, line, now } of rows) lines.set(this.keyOf(name), { text: String(line), now: Number(now) });
    }
    lines.delete(''); // the table's own row; a key is never empty
    return lines;
  }

  /** How many of the claims, each of a key of its own, were alive and are now for another ttl. */
  async touch(claims: readonly Claim[], notAfter: string, keeps: '0' | '1'): Promise<number> {
    const list = claimsOf(claims.map(({ key, id, ttl }) => [this.nameOf(key), mark(id), `${Math.round(ttl * MICRO)}`]));
    return (await this.table.write(touch, { notAfter, keeps }, list)).affectedRows;
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const gone = new Set<Claim>();
    for (const portion of [...rounds(claims)].flatMap((round) => [...portions(round)])) {
      if ((await this.touch(portion, FOREVER, '0')) === portion.length) continue;
      const lines = await this.read(portion.map(({ key }) => key));
      for (const claim of portion) if (!stands(claim, lines.get(claim.key))) gone.add(claim);
    }
    return claims.map((claim) => (gone.has(claim) ? 'gone' : { validFor: claim.ttl }));
  }
}
