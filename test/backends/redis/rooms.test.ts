import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lockOf } from '../../../src/backends/redis/server.ts';
import { ALL_UNITS, admitted } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { raisedOneByOne } from './raised.ts';
import { granted, wish } from './scene.ts';

/** More holders than one script counts anew, all of whom name a wide room. */
const CROWD = 510;
const WIDE = 5_000;
/** Fewer than one script admits. */
const WAITERS = 30;
const FEW = [520, 530, 550, 600, 900, ALL_UNITS];
const MANY = [...FEW, 525, 535, 541, 547, 555, 560, 575, 640, 700, 800, 1_000];

const step = fc.record({
  kind: fc.constantFrom('join', 'join', 'try', 'leave', 'leave narrowest', 'expiry', 'evict', 'again', 'renew'),
  which: fc.nat(),
  take: fc.integer({ min: 1, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A line as the one rule has it, beside that of a server. */
class Line {
  readonly #backend: Backend;
  readonly #client: Redis;
  readonly #rooms: readonly number[];
  readonly #key = 'line';
  readonly #lock = lockOf('holdfast', this.#key);
  #line: Claim[] = [];

  constructor(backend: Backend, client: Redis, rooms: readonly number[]) {
    this.#backend = backend;
    this.#client = client;
    this.#rooms = rooms;
  }

  async fill(): Promise<void> {
    const rooms = [...Array(CROWD).fill(WIDE), ...this.#rooms.slice(0, this.#rooms.length / 2)];
    this.#line = rooms.map((of) => wish(this.#key, {}, { units: 1, capacity: of }));
    for (const attempt of await Promise.all(this.#line.map((claim) => this.#backend.attempt(claim)))) granted(attempt);
  }

  async step({ kind, which, take }: Step): Promise<void> {
    if (kind === 'join' || kind === 'try') return this.#join(kind === 'join', which, take);
    const claim =
      kind === 'leave narrowest'
        ? this.#line.reduce((found, each) => (each.capacity < found.capacity ? each : found))
        : this.#line[which % this.#line.length]!;
    if (kind === 'again') return void (await this.#backend.attempt(claim));
    if (kind === 'renew') return void (await this.#backend.renew([claim]));
    const [token] = (await this.#client.hget(`${this.#lock}:claims`, claim.id))!.split(' ');
    const held = Number(await this.#client.zscore(`${this.#lock}:queue`, claim.id)) < 0;
    this.#line = this.#line.filter((each) => each !== claim);
    if (kind === 'evict') expect(await this.#backend.evict!(this.#key, BigInt(token!)), kind).toBe(true);
    else if (kind === 'expiry' && held) {
      await this.#client.zadd(`${this.#lock}:queue`, 'XX', -1, claim.id);
      await this.#backend.release(wish(this.#key));
    } else expect((await this.#backend.release(claim)).freed, kind).toBe(true);
  }

  async #join(queue: boolean, which: number, take: number): Promise<void> {
    if (queue && this.#line.length - admitted(this.#line) >= WAITERS) return;
    const of = which % 2 ? WIDE : this.#rooms[(which >> 1) % this.#rooms.length]!;
    const claim = wish(this.#key, { queue }, { units: take, capacity: of });
    const { granted } = await this.#backend.attempt(claim);
    const line = [...this.#line, claim];
    if (granted) expect(admitted(line), 'whoever is granted is admitted by the rule').toBe(line.length);
    if (granted || queue) this.#line = line;
  }

  /** @param exactly all whom the rule admits hold, and not only some of them */
  async check(exactly: boolean): Promise<number> {
    const holders = await this.#client.zrangebyscore(`${this.#lock}:queue`, '-inf', '(0');
    const held = this.#line.slice(0, holders.length);
    const first = new Set(held.map(({ id }) => id));
    expect(holders.filter((id) => !first.has(id)).length, 'holders who are not the first of the line').toBe(0);
    const rule = admitted(this.#line);
    expect(holders.length, 'holders, too many').toBeLessThanOrEqual(rule);
    if (exactly) expect(holders.length, 'holders').toBe(rule);
    if (held.length === this.#line.length) await this.#checkRoom(held, exactly);
    return holders.length;
  }

  /** Nobody waits: asks for one unit more than is left, and then for all that are left. */
  async #checkRoom(held: readonly Claim[], exactly: boolean): Promise<void> {
    const left = Math.min(...held.map(({ capacity }) => capacity)) - held.reduce((sum, { units }) => sum + units, 0);
    const some = (take: number): Claim => wish(this.#key, { queue: false }, { units: take, capacity: ALL_UNITS });
    expect((await this.#backend.attempt(some(left + 1))).granted, `${left + 1} demand of ${left}`).toBe(false);
    if (!exactly || left === 0) return;
    const all = some(left);
    expect((await this.#backend.attempt(all)).granted, `${left} demand of ${left}`).toBe(true);
    await this.#backend.release(all);
  }

  /** Lets those leave who came first, until no more hold than are counted anew; then those who name the smallest room. */
  async shrink(): Promise<void> {
    while ((await this.check(false)) > 500) await this.step({ kind: 'leave', which: 0, take: 1 });
    for (let i = 0; i < 60; i++) {
      await this.step({ kind: 'leave narrowest', which: 0, take: 1 });
      await this.check(true);
    }
  }
}

describeOn('redis', 'redis and rooms of several sizes, with more holders than one script counts', () => {
  let server: Server;
  let fleet: Fleet;
  let backend: Backend;
  let client: Redis;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    backend = await fleet.backend();
    client = fleet.ioredis();
  });
  beforeEach(async () => void (await askRedis(server.port, 'FLUSHALL')));
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test('raised permits count as soon as the last that named fewer is gone', () => raisedOneByOne(backend, 'raised'));

  const steps = fc.array(step, { minLength: 100, maxLength: 250 });

  test.each([
    ['of few rooms those hold whom the one rule admits', FEW, true],
    ['of more rooms than are told apart never too many hold', MANY, false],
  ])(
    '%s, whatever comes and goes, and with fewer holders all whom it admits',
    { timeout: 120_000 },
    async (_, rooms, exactly) => {
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          await client.flushall();
          const line = new Line(backend, client, rooms);
          await line.fill();
          for (const each of all) {
            await line.step(each);
            await line.check(exactly);
          }
          await line.shrink();
        }),
        { numRuns: 12, endOnFailure: true },
      );
    },
  );
});
