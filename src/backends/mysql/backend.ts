import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Grant,
  Handle,
  Listing,
  Notes,
  Release,
  Renewal,
  Standing,
  Traits,
} from '../../core/backend.ts';
import { systemClock } from '../../core/clock.ts';
import { LONGEST, milliseconds } from '../../core/duration.ts';
import { checkPrefix } from '../../core/key.ts';
import { findings } from './check.ts';
import { fits, grantOf, refusal, standings } from './line.ts';
import { Lines } from './lines.ts';
import { notesOf } from './notes.ts';
import { checkLeased, type MysqlOptions } from './options.ts';
import { mark, partsOf, type Survey, survey } from './place.ts';
import { Poller } from './poller.ts';
import { busyPool, type MysqlPool, type PoolOfOne, poolOfOne } from './pool.ts';
import { Renewals } from './renewals.ts';
import * as sql from './sql.generated.ts';
import type { Values } from './statements.ts';
import { Sweeper } from './sweeper.ts';
import { Table } from './table.ts';
import { type Visit, Visits } from './visits.ts';
import { Bell } from './wake-ups.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'mailbox',
  lapses: true,
  keptBy: 'lease',
  ttl: { min: 10, max: LONGEST },
};

/** Bits of the answer to leave.sql. */
const [ALIVE, OTHERS] = [1, 2];

/** Below and above every byte of UTF-8. */
const [FIRST_BYTE, LAST_BYTE] = [Buffer.from([0]), Buffer.from([255])];

/** Looks at a line that others change meanwhile, before the attempt is called off with an unknown outcome. */
const TRIES = 20;

export interface MysqlBackend extends Backend {
  /** Makes the tables, if they are not there. Done by the first use, too, if the user may. */
  setup(): Promise<void>;
  /** Takes away the rows of idle keys; how many. */
  sweep(): Promise<number>;
  check(): Promise<Finding[]>;
}

/**
 * A line per key, in one table: fair, fenced, with leases by the server's clock.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 */
export function mysql(pool: MysqlPool, options: MysqlOptions = {}): MysqlBackend {
  checkLeased(options);
  return new Mysql(pool, options);
}

class Mysql implements MysqlBackend {
  readonly name = 'mysql';
  readonly traits = TRAITS;
  readonly notes: Notes;
  readonly #pool: MysqlPool;
  readonly #lines: Lines;
  readonly #renewals: Renewals;
  readonly #ownPool: PoolOfOne | undefined;
  readonly #table: Table;
  readonly #poller: Poller;
  readonly #sweeper: Sweeper;
  readonly #bell: Bell | undefined;
  readonly #visits = new Visits();

  constructor(pool: MysqlPool, options: MysqlOptions) {
    const { prefix = 'holdfast', table = 'holdfast_lines', poll = 25, gate = false, clock = systemClock } = options;
    const { ownConnection = false } = options;
    this.#pool = pool;
    this.#table = new Table(pool, table, clock, this.name);
    this.#lines = new Lines(this.#table, checkPrefix(prefix));
    this.#ownPool = ownConnection ? poolOfOne(pool) : undefined;
    const own = this.#ownPool && this.#lines.over(new Table(this.#ownPool, table, clock, this.name));
    this.#renewals = new Renewals(this.#lines, own, clock);
    this.notes = notesOf(this.#table, (name) => this.#lines.nameOf(name));
    this.#poller = new Poller(clock, milliseconds(poll, 'poll', { min: 1, max: LONGEST }), (keys) =>
      this.#lines.read(keys),
    );
    const bells = (keys: readonly string[]) => this.#bells(keys);
    this.#bell = gate ? new Bell(this.#table.client, clock, () => this.#poller.hurry(), bells) : undefined;
    this.#sweeper = new Sweeper(this.#table, clock, options);
  }

  async setup(): Promise<void> {
    await this.#table.ready();
    await this.#table.make(sql.notes);
  }

  sweep(): Promise<number> {
    return this.#sweeper.sweep();
  }

  attempt(claim: Claim): Promise<Attempt> {
    return this.#visit(claim, async (visit) => {
      await this.#table.ready();
      return this.#ask(claim, visit, this.#table.limit(claim.within));
    });
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return this.#renewals.renew(claims);
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  async release(handle: Handle, next?: Claim): Promise<Release> {
    const ready = this.#table.ready();
    if (!next) return { freed: await ready.then(() => this.#leave(handle)) };
    let freed = true;
    // One visit for all of it: that the next claim is given up meanwhile must be heard to the end.
    const attempt = await this.#visit(next, async (visit) => {
      await ready;
      const notAfter = this.#table.limit(next.within);
      const exchanged = await this.#exchange(handle, next, visit, notAfter);
      if (exchanged) return exchanged;
      freed = await this.#leave(handle);
      return this.#ask(next, visit, notAfter);
    });
    return { freed, next: attempt };
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable {
    this.#bell?.listen();
    return this.#poller.watch(claim, wake);
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    await this.#table.ready();
    const to = Buffer.concat([this.#lines.nameOf(prefix), exact ? FIRST_BYTE : LAST_BYTE]);
    for (let from = this.#lines.nameOf(prefix); ; ) {
      const rows = await this.#table.read(sql.list, { from, to });
      const [, ...keys] = rows;
      for (const { name, line, now } of keys)
        yield* standings(this.#lines.keyOf(name), survey(String(line), Number(now)), Number(now));
      if (keys.length === 0) return;
      from = Buffer.concat([keys.at(-1)!.name as Buffer, FIRST_BYTE]);
    }
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    await this.#table.ready();
    const found = (await this.#survey(key))?.places.find((place) => place.ticket === ticket);
    return found !== undefined && this.#leave({ key, id: found.id });
  }

  async check(): Promise<Finding[]> {
    return findings(this.#table);
  }

  async close(): Promise<void> {
    this.#poller.close();
    this.#sweeper.close();
    await this.#bell?.close();
    this.#renewals.close();
    this.#ownPool?.end(() => {});
    this.#table.client.close();
  }

  async #visit(claim: Claim, ask: (visit: Readonly<Visit>) => Promise<Attempt>): Promise<Attempt> {
    const visit = this.#visits.begin(claim.id);
    let stands = false;
    try {
      const answer = await ask(visit);
      stands = !answer.granted && claim.queue && !answer.late;
      return answer;
    } finally {
      if (this.#visits.end(claim.id, stands)) await this.#leave(claim);
    }
  }

  async #ask(claim: Claim, visit: Readonly<Visit>, notAfter: string): Promise<Attempt> {
    if (visit.stands) return this.#find(claim, visit, notAfter);
    const ticket = await this.#join(claim, '', notAfter);
    return ticket ? grantOf(ticket, claim) : this.#find(claim, visit, notAfter, ticket === 0n);
  }

  /** The place of a claim in a line, as it was when it was looked at: nobody gets ahead of it later. */
  async #find(claim: Claim, visit: Readonly<Visit>, notAfter: string, touched = false): Promise<Attempt> {
    for (let tries = 0; tries < TRIES; tries++) {
      const stored = (await this.#lines.read([claim.key])).get(claim.key);
      if (!stored) await this.#table.write(sql.create, { name: this.#lines.nameOf(claim.key) });
      const { text, now } = stored ?? { text: '', now: 0 };
      if (now > Number(notAfter)) return { granted: false, late: true };
      const line = survey(text, now);
      if (line.lapsed && !(await this.#swap(claim.key, text, line.text))) continue;
      const position = line.places.findIndex(({ id }) => id === claim.id);
      const mine = line.places[position];
      if (mine) {
        touched ||= (await this.#lines.touch([claim], notAfter, '1')) === 1;
        if (touched) return position < line.held ? grantOf(mine.ticket, claim) : refusal(line, position, now);
        continue;
      }
      if (visit.left) throw new Error('it was given up meanwhile');
      const free = fits(line.places, claim);
      const ticket = free || claim.queue ? await this.#join(claim, line.text, notAfter) : 0n;
      if (free ? ticket : ticket !== undefined)
        return free ? grantOf(ticket!, claim) : refusal(line, line.places.length, now);
      touched = ticket === 0n;
    }
    throw new Error(`the line was changed, or too long to join, each of ${TRIES} times it was looked at`);
  }

  /** The ticket, if the line was as expected; 0 if another; undefined if nothing was done. */
  async #join(claim: Claim, expected: string, notAfter: string): Promise<bigint | undefined> {
    const queue = claim.queue ? '1' : '0';
    const header = await this.#table.write(sql.join, { ...this.#newcomer(claim), expected, queue, notAfter });
    return header.affectedRows > 0 ? BigInt(header.insertId) : undefined;
  }

  async #exchange({ id }: Handle, next: Claim, visit: Readonly<Visit>, notAfter: string): Promise<Attempt | undefined> {
    const header = await this.#table.write(sql.exchange, { ...this.#newcomer(next), gone: mark(id), notAfter });
    if (header.affectedRows === 0) return undefined;
    this.#visits.leave(id);
    const ticket = BigInt(header.insertId);
    if (ticket) return grantOf(ticket, next);
    this.#tellOthers(next.key);
    return this.#find(next, visit, notAfter, true);
  }

  async #leave({ key, id }: Handle): Promise<boolean> {
    this.#visits.leave(id);
    const { affectedRows, insertId } = await this.#table.write(sql.leave, {
      name: this.#lines.nameOf(key),
      mark: mark(id),
    });
    if (affectedRows === 0) return false;
    if (Number(insertId) & OTHERS) this.#tellOthers(key);
    return (Number(insertId) & ALIVE) > 0;
  }

  #tellOthers(key: string): void {
    this.#poller.hurry();
    this.#bell?.ring(key);
  }

  async #swap(key: string, old: string, text: string): Promise<boolean> {
    const header = await this.#table.write(sql.swap, { name: this.#lines.nameOf(key), old, new: text });
    return header.affectedRows > 0;
  }

  async #survey(key: string): Promise<Survey | undefined> {
    const stored = (await this.#lines.read([key])).get(key);
    return stored && survey(stored.text, stored.now);
  }

  /** Of whoever holds these keys now. */
  async #bells(keys: readonly string[]): Promise<string[]> {
    return [...(await this.#lines.read(keys)).values()].flatMap(({ text, now }) => {
      const { places, held } = survey(text, now);
      return places.slice(0, held).map(({ bell }) => bell);
    });
  }

  #newcomer(claim: Claim): Values {
    const { key, atLeast = 0n, span } = claim;
    const parts = partsOf(claim, this.#bell?.address ?? '-');
    return { ...parts, name: this.#lines.nameOf(key), atLeast: `${atLeast}`, span: `${span}` };
  }
}
