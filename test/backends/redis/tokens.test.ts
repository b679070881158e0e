import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SHARED } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';
import { expiryOf } from './version.ts';

const STEPS = ['take', 'stand', 'leave', 'evict', 'expiry', 'read', 'again', 'lose', 'batch', 'hot'] as const;

describeOn('redis', 'tokens of redis and the clock of its server', () => {
  let server: Server;
  let fleet: Fleet;
  let backend: Backend;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    backend = await fleet.backend();
    await backend.release(wish('warm'));
  });
  beforeEach(() => askRedis(server.port, 'FLUSHALL'));
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test('the token after a loss of all data is above every one that could be shown before, whatever callers do', async () => {
    const step = fc.record({ kind: fc.constantFrom(...STEPS), tokenCount: fc.constantFrom(1, 2, 65, 1_024) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        await using run = new Run(backend, server);
        for (const { kind, tokenCount } of steps) await run.step(kind, tokenCount);
        await run.step('lose', 1);
        await run.step('take', 1);
      }),
      { numRuns: 60 },
    );
  });

  test('no token is ahead of the server at the moment it is given, alone or in line', async () => {
    const client = fleet.ioredis();
    const behind = (record: string): void => {
      const [token, tokenCount, seen] = record.split(' ').map(Number) as [number, number, number];
      expect(token + tokenCount - 1 - seen, `µs by which the last token of "${record}" is ahead`).toBeLessThanOrEqual(
        0,
      );
    };
    for (const tokenCount of [1, 65, 1_024]) {
      for (let i = 0; i < 3; i++) {
        const [holder, waiter, third] = [1, 2, 3].map(() => wish('given', { tokenCount })) as [Claim, Claim, Claim];
        granted(await backend.attempt(holder));
        behind((await client.get('holdfast:{given}'))!.slice('1 sole '.length));
        for (const claim of [waiter, third]) {
          await backend.attempt(claim);
          behind((await client.hget('holdfast:{given}:claims', claim.id))!);
        }
        for (const claim of [third, waiter, holder]) await backend.release(claim);
      }
    }
  });

  test.each([1, 8])('so it is after the busiest hand-overs that a process can do, with %i callers', async (callers) => {
    await using locks = createLocks(await fleet.backend());
    for (const max of [64, 1_023]) {
      const lock = locks.mutex(`busy-${max}`, { handOff: { max, within: '1s' }, wait: '10s' });
      let highest = 0n;
      const end = performance.now() + 700;
      const caller = async (): Promise<void> => {
        while (performance.now() < end) {
          const lease = await lock.acquire();
          if (lease.token > highest) highest = lease.token;
          await lease.release();
        }
      };
      await Promise.all(Array.from({ length: callers }, caller));
      await askRedis(server.port, 'FLUSHALL');
      const next = await lock.acquire();
      expect(next.token, `above those shown before, with handOff.max ${max}`).toBeGreaterThan(highest);
      await next.release();
    }
  });

  test('hand-overs inside a process go on: a hot key gets the tokens that it asks for', async () => {
    const hot = wish('hot', { tokenCount: 65 });
    granted(await backend.attempt(hot));
    await backend.release(hot);
    await sleep(2);
    expect(granted(await backend.attempt(wish('hot', { tokenCount: 65 }))).tokenCount).toBe(65);
  });

  test('a hold that is raised among its own tokens keeps the last of them, also where it asks for fewer', async () => {
    const first = wish('own');
    granted(await backend.attempt(first));
    await backend.release(first);
    await sleep(2);
    const claim = wish('own', { tokenCount: 65 });
    const { token } = granted(await backend.attempt(claim));
    const raised = granted(await backend.attempt({ ...claim, tokenCount: 1, minToken: token + 10n }));
    expect([raised.token, raised.tokenCount]).toEqual([token + 10n, 55]);
  });

  test('a hold is raised to what is proposed, alone and in a line: never below what it has, with as many as are behind the clock', async () => {
    for (const beside of [0, 1]) {
      const key = `raise-${beside}`;
      const claim = wish(key, { tokenCount: 65 }, SHARED);
      const before = wish(key, {}, SHARED);
      granted(await backend.attempt(before)); // of a key of which nothing is known, one token is given
      if (!beside) await backend.release(before);
      await sleep(2);
      const { token, tokenCount } = granted(await backend.attempt(claim));
      expect(tokenCount).toBe(65);
      await sleep(2);
      const to = async (minToken: bigint, asked = 65): Promise<[bigint, number | undefined]> => {
        const grant = granted(await backend.attempt({ ...claim, tokenCount: asked, minToken }));
        return [grant.token - token, grant.tokenCount];
      };
      expect(await to(token - 10n), 'below its own').toEqual([0n, 65]);
      expect(await to(token + 63n, 1), 'the last but one of its own').toEqual([63n, 2]);
      expect(await to(token + 65n), 'behind its own').toEqual([65n, 65]);
      expect(await to(token + 60_000_000n), 'ahead of the clock').toEqual([60_000_000n, 1]);
      const next = granted(await backend.attempt(wish(key, {}, SHARED)));
      expect(next.token - token, 'the next claim').toBe(60_000_001n);
    }
  });

  test('a proposal of the token that it has leaves a hold as it is: more tokens may be those of others', async () => {
    for (const beside of [0, 1]) {
      const key = `same-${beside}`;
      const claim = wish(key, {}, SHARED);
      const { token } = granted(await backend.attempt(claim));
      if (beside) granted(await backend.attempt(wish(key, {}, SHARED)));
      await sleep(2);
      const same = granted(await backend.attempt({ ...claim, tokenCount: 65, minToken: token }));
      expect([same.token, same.tokenCount]).toEqual([token, 1]);
    }
  });

  test('while the last token of a line is ahead of the clock, each next one is one above it', async () => {
    const first = wish('next', { minToken: BigInt(Date.now() + 60_000) * 1_000n }, SHARED);
    const { token } = granted(await backend.attempt(first));
    for (const above of [1n, 2n, 3n])
      expect(granted(await backend.attempt(wish('next', {}, SHARED))).token).toBe(token + above);
  });

  test('a grant that is told brings as many tokens as it asked for', async () => {
    const [holder, waiter] = [wish('many'), wish('many', { tokenCount: 65 })];
    await using mail = await Mail.of(backend, waiter);
    granted(await backend.attempt(holder));
    await sleep(2);
    await backend.attempt(waiter);
    await backend.release(holder);
    const told = (await mail.next())!;
    expect(told.tokenCount).toBe(65);
    expect(granted(await backend.attempt(waiter))).toMatchObject({ token: told.token, tokenCount: 65 });
  });

  test('what is proposed is above the last token, or one above that is given', async () => {
    const claim = wish('above');
    const { token } = granted(await backend.attempt({ ...claim, minToken: BigInt(Date.now() + 5_000) * 1_000n }));
    await backend.release(claim);
    expect(granted(await backend.attempt(wish('above', { minToken: token }))).token).toBe(token + 1n);
  });

  test('of a key of which nothing is known, a proposal hardly behind the clock is taken, and no older one', async () => {
    const ago = (ms: number): bigint => BigInt(Date.now() - ms) * 1_000n;
    const hardly = ago(10);
    expect(granted(await backend.attempt(wish('hardly', { minToken: hardly }))).token).toBe(hardly);
    expect(granted(await backend.attempt(wish('older', { minToken: ago(3_000) }))).token).toBeGreaterThan(ago(900));
  });

  test('the key of a hold is kept for its lease and the memory of its token, and longer where that is ahead of the clock', async () => {
    const client = fleet.ioredis();
    const remembering = await fleet.backend('ioredis', { remember: '2h' });
    // What is ahead of the clock comes nearer to it; what is behind it costs nothing, however old.
    for (const [ahead, least] of [
      [0, -500],
      [60_000, 55_000],
    ] as const) {
      const key = `ahead-${ahead}`;
      const claim = wish(key, ahead > 0 ? { minToken: BigInt(Date.now() + ahead) * 1_000n } : {});
      for (const time of ['at first', 'asked again a little later']) {
        granted(await remembering.attempt(claim));
        const left = (await client.pttl(`holdfast:{${key}}`)) - 7_200_000 - claim.ttl;
        expect(left, time).toBeGreaterThan(least);
        expect(left, time).toBeLessThanOrEqual(ahead + 2);
        if (time === 'at first') await sleep(700);
      }
    }
  });

  test('in a line the next token is above the one that a holder was raised to', async () => {
    const [first, second, third] = [1, 2, 3].map(() => wish('raised', {}, SHARED)) as [Claim, Claim, Claim];
    const { token } = granted(await backend.attempt(first));
    granted(await backend.attempt(second));
    const minToken = token + 1_000_000n;
    expect(granted(await backend.attempt({ ...first, minToken })).token).toBe(minToken);
    expect(granted(await backend.attempt(third)).token).toBeGreaterThan(minToken);
  });

  test('who waits keeps the token of its place, whatever is proposed: who stands behind it gets a higher one', async () => {
    const [holder, waiter, last] = [wish('place'), wish('place'), wish('place')];
    const { token } = granted(await backend.attempt(holder));
    await backend.attempt(waiter);
    await backend.attempt(last);
    await backend.attempt({ ...waiter, minToken: token + 1_000_000n });
    await backend.release(holder);
    const before = granted(await backend.attempt(waiter)).token;
    await backend.release(waiter);
    expect(granted(await backend.attempt(last)).token).toBeGreaterThan(before);
  });

  test('tokens that are ahead of the clock are never given again', async () => {
    const client = fleet.ioredis();
    const now = BigInt(Date.now()) * 1_000n;
    const ahead = now + 2_000_000n;
    await client.set('holdfast:{ahead}', `1 free ${ahead} 0065`, 'PX', 60_000);
    const claim = wish('ahead', { tokenCount: 65 });
    const { token, tokenCount } = granted(await backend.attempt(claim));
    expect([token, tokenCount]).toEqual([ahead + 65n, 1]);
    await backend.release(claim);
    expect(await client.pttl('holdfast:{ahead}'), 'remembered until the clock has passed it').toBeGreaterThan(2_000);
    expect(granted(await backend.attempt(wish('ahead', { tokenCount: 65 }))).token).toBe(ahead + 66n);
  });

  test('the key of a hold whose tokens are ahead of the clock is kept until the last of them has passed', async () => {
    const client = fleet.ioredis();
    const remember = 60_000;
    const claim = wish('hold ahead');
    const token = (Date.now() + 60_000) * 1_000;
    const tokenCount = 9_999;
    const words = `${claim.id} ${claim.units} ${claim.capacity} ${claim.ttl} - early`;
    await client.set('holdfast:{hold ahead}', `1 sole ${token} ${tokenCount} ${Date.now()}000 ${words}`);
    granted(await (await fleet.backend('ioredis', { remember })).attempt(claim));
    const passed = (await expiryOf(client, 'holdfast:{hold ahead}')) - claim.ttl - remember;
    // The server counts from when the script began.
    expect(passed - (token + tokenCount) / 1_000).toBeGreaterThan(-10);
  });
});

/** One key, and what became of it. */
class Run implements AsyncDisposable {
  readonly #backend: Backend;
  readonly #server: Server;
  readonly #key = `run-${Math.random()}`;
  readonly #claims = new Map<string, { claim: Claim; grant: Grant | undefined }>();
  #highest = 0n;

  constructor(backend: Backend, server: Server) {
    this.#backend = backend;
    this.#server = server;
  }

  async step(kind: (typeof STEPS)[number], tokenCount: number): Promise<void> {
    const held = [...this.#claims.values()].at(-1);
    if (kind === 'take') await this.#ask(wish(this.#key, { tokenCount, queue: false }));
    if (kind === 'stand') await this.#ask(wish(this.#key, { tokenCount }));
    if (kind === 'batch') await Promise.all([1, 2, 3].map(() => this.#ask(wish(this.#key, { tokenCount }))));
    if (kind === 'hot') for (let i = 0; i < 20; i++) await this.#brief(wish(this.#key, { tokenCount, queue: false }));
    if (kind === 'read') await this.#ask(wish(this.#key, {}, SHARED));
    if (kind === 'expiry') await this.#expiry(wish(this.#key, { tokenCount, ttl: 10, queue: false }));
    if (kind === 'again' && held) await this.#ask(held.claim);
    if (kind === 'leave' && held) {
      this.#claims.delete(held.claim.id);
      await this.#backend.release(held.claim);
    }
    if (kind === 'evict' && held?.grant) await this.#backend.evict!(this.#key, held.grant.token);
    if (kind === 'lose') await askRedis(this.#server.port, 'FLUSHALL');
  }

  async #ask(claim: Claim): Promise<void> {
    const known = this.#claims.get(claim.id)?.grant;
    const attempt = await this.#backend.attempt(claim);
    const grant = attempt.granted ? attempt : undefined;
    if (grant && grant.token !== known?.token && claim.units === claim.capacity) {
      expect(grant.token, 'above all before').toBeGreaterThan(this.#highest);
      this.#highest = grant.token + BigInt((grant.tokenCount ?? claim.tokenCount) - 1);
    }
    if (grant || claim.queue) this.#claims.set(claim.id, { claim, grant: grant ?? known });
  }

  async #brief(claim: Claim): Promise<void> {
    await this.#ask(claim);
    this.#claims.delete(claim.id);
    await this.#backend.release(claim);
  }

  async #expiry(claim: Claim): Promise<void> {
    await this.#ask(claim);
    this.#claims.delete(claim.id);
    await sleep(12);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { claim } of this.#claims.values()) await this.#backend.release(claim);
  }
}
