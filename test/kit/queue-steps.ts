/**
 * Random steps on the queue of one key, on a real engine and on the pure queue side by side. The engines that have a queue of their own, in
 * the language of their server, are held against the one in TypeScript by them.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { EngineQueue } from '../../src/backends/shared/queue.ts';
import { EngineTime, TokenCounter } from '../../src/backends/shared/stored-queue.ts';
import { type Demand, EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import type { Attempt, Backend, Claim } from '../../src/core/contract/backend.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import type { SteppedClock } from './stepped-clock.ts';

const SECOND = 1_000;
/** No claim expires so near to the moment at which the clock is stepped that the time of a call would decide about it. */
const MARGIN = 2.5 * SECOND;

const units: fc.Arbitrary<Demand> = fc.oneof(
  fc.constant(EXCLUSIVE),
  fc.constant(SHARED),
  fc.record({ units: fc.integer({ min: 1, max: 3 }), capacity: fc.constantFrom(3, 5) }),
);
const ttl = fc.constantFrom(10 * SECOND, 20 * SECOND, 40 * SECOND);
const newcomer = fc.record({
  units,
  ttl,
  queue: fc.boolean(),
  tokenCount: fc.constantFrom(1, 1, 3, 65),
  /** By how much its token has to be above all others. */
  above: fc.constantFrom(undefined, undefined, undefined, 1_000n),
});
const which = fc.nat();
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('join' as const), newcomer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('touch' as const), which, queue: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew' as const), which, ttl }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('exchange' as const), which, newcomer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('evict' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('come late' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.constantFrom(1, 4, 7, 13, 25) }),
  },
);
type QueueStep = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Newcomer = typeof newcomer extends fc.Arbitrary<infer T> ? T : never;

/** An engine, and the clock that its server tells the time by. */
export interface QueueSubject {
  readonly backend: Backend;
  readonly clock: SteppedClock;
}

/** A claim as it was sent, and the tokens that the engine gave it. */
interface Sent {
  readonly claim: Claim;
  readonly tokens: { first: bigint; last: bigint };
}

/** One queue, twice. */
class Twins {
  readonly #subject: QueueSubject;
  readonly #key: string;
  readonly #pure = new EngineQueue(new TokenCounter(0n));
  /** All that have joined, in that order. */
  readonly #joined: Sent[] = [];
  /** The claims that were in the queue and are not any more. */
  readonly #gone: Claim[] = [];
  /** The time by which the clock was stepped, ms. */
  #passed = 0;
  /** The longest that a call of the engine took, ms: the two tell times that differ by no more. */
  #slowest = 0;
  /** The number of claims that have expired, of which an engine may notice only when they come to the head. */
  #expired = 0;
  #last = 0;

  constructor(subject: QueueSubject) {
    this.#subject = subject;
    this.#key = `queue ${systemClock.id()}`;
  }

  /** Whether no call took so long that an expiry may have been in its time. */
  get isInTime(): boolean {
    return this.#slowest < MARGIN / 2;
  }

  async take(step: QueueStep): Promise<void> {
    const { backend } = this.#subject;
    const present = [...this.#now().claims];
    switch (step.do) {
      case 'join':
        await this.#attempt(this.#claimOf(step.newcomer));
        break;
      case 'pass':
        return this.#pass(step.seconds * SECOND);
      case 'come late': {
        const claim = this.#gone[step.which % Math.max(1, this.#gone.length)];
        if (!claim) return;
        expect((await this.#timed(() => backend.renew([claim])))[0], 'the renewal of what is gone').toBe('gone');
        expect((await this.#timed(() => backend.release(claim))).freed, 'the release of what is gone').toBe(false);
        break;
      }
      default: {
        const stored = present[step.which % Math.max(1, present.length)];
        if (stored) await this.#stepOf(step, this.#sentOf(stored.id));
      }
    }
    await this.#compare();
  }

  async #stepOf(
    step: Exclude<QueueStep, { do: 'join' | 'pass' | 'come late' }>,
    { claim, tokens }: Sent,
  ): Promise<void> {
    const { backend } = this.#subject;
    switch (step.do) {
      case 'touch':
        return this.#attempt({ ...claim, queue: step.queue });
      case 'renew': {
        const renewed = { ...claim, ttl: step.ttl };
        const [answer] = await this.#timed(() => backend.renew([renewed]));
        const expected = this.#now().renew(renewed);
        if (expected === 'gone') expect(answer, 'the renewal of a place').toBe('gone');
        else expect(answer, 'the renewal of a hold').toEqual({ validFor: expect.closeTo(step.ttl, -1) });
        return;
      }
      case 'leave':
        expect((await this.#timed(() => backend.release(claim))).freed, 'a claim that leaves').toBe(true);
        this.#now().release(claim);
        return;
      case 'evict':
        expect(await this.#timed(() => backend.evict!(this.#key, tokens.first)), 'an eviction').toBe(true);
        this.#now().evict(({ id }) => id === claim.id);
        return;
      case 'exchange': {
        const next = this.#claimOf(step.newcomer);
        const { freed, next: attempt } = await this.#timed(() => backend.release(claim, next));
        expect(freed, 'a claim that leaves for another').toBe(true);
        this.#now().release(claim);
        if (attempt && (attempt.granted || !attempt.late)) this.#hear(next, attempt);
        else await this.#attempt(next);
      }
    }
  }

  #claimOf({ units, above, ...rest }: Newcomer): Claim {
    const highest = this.#joined.reduce((most, { tokens }) => (tokens.last > most ? tokens.last : most), 0n);
    const minToken = above === undefined || highest === 0n ? {} : { minToken: highest + above };
    const name = `claim ${++this.#last}`;
    // A place lives for as long as a hold: how much sooner it may expire is up to the engine.
    const own = { key: this.#key, id: systemClock.id(), label: name, placeTtl: rest.ttl, within: 10 * SECOND };
    return { ...own, ...units, ...rest, ...minToken };
  }

  /** Attempts on both, again where the engine says that its clock has moved on. */
  async #attempt(claim: Claim): Promise<void> {
    for (let tries = 0; ; tries++) {
      const attempt = await this.#timed(() => this.#subject.backend.attempt(claim));
      if (attempt.granted || !attempt.late || tries === 5) return this.#hear(claim, attempt);
    }
  }

  /** Attempts on the pure queue, and compares what an engine has answered. */
  #hear(claim: Claim, answer: Attempt): void {
    const { tokenCount = claim.tokenCount } = answer.granted ? answer : {};
    const queue = this.#now();
    const expected = queue.attempt(claim);
    expect(answer.granted, `whether ${claim.label} is granted`).toBe(expected.granted);
    const isNew = queue.joined !== undefined && (claim.queue || expected.granted);
    if (isNew) this.#joined.push({ claim, tokens: { first: 0n, last: 0n } });
    if (answer.granted) {
      const { tokens } = this.#sentOf(claim.id);
      if (!isNew && tokens.first > 0n) expect(answer.token, `the token of ${claim.label}`).toBe(tokens.first);
      if (claim.minToken !== undefined) expect(answer.token).toBeGreaterThanOrEqual(claim.minToken);
      Object.assign(tokens, { first: answer.token, last: answer.token + BigInt(tokenCount) - 1n });
    } else if (!expected.granted && claim.queue) {
      const { ahead } = expected; // a claim that leaves with its refusal has no use for that
      expect(answer.ahead, `the claims ahead of ${claim.label}`).toBeGreaterThanOrEqual(ahead!);
      expect(answer.ahead, `the claims ahead of ${claim.label}`).toBeLessThanOrEqual(ahead! + this.#expired);
    }
  }

  /** Lets time pass, and both notice what has expired. */
  async #pass(ms: number): Promise<void> {
    const claims = [...this.#now().claims];
    const isNear = (step: number): boolean =>
      claims.some(({ expires }) => Math.abs(expires! - this.#time() - step) < MARGIN);
    let step = ms;
    while (isNear(step)) step += SECOND;
    this.#subject.clock.step(step);
    this.#passed += step;
    const left = [...this.#now().claims];
    this.#expired += claims.length - left.length;
    const claim = this.#claimOf({ units: EXCLUSIVE, ttl: 10 * SECOND, queue: false, tokenCount: 1, above: undefined });
    await this.#attempt(claim);
    if (this.#now().find(claim.id)) {
      await this.#timed(() => this.#subject.backend.release(claim));
      this.#now().release(claim);
    }
    await this.#compare();
  }

  /** Asks again for whom the pure queue has admitted, as their processes do, and compares what both show. */
  async #compare(): Promise<void> {
    const { admitted } = this.#pure;
    for (let next = admitted.shift(); next; next = admitted.shift()) {
      if (this.#now().find(next.id)) await this.#attempt({ ...this.#sentOf(next.id).claim, queue: true });
    }
    const shown = await this.#timed(async () => {
      const entries = [];
      for await (const entry of this.#subject.backend.inspect!(this.#key, { exact: true })) entries.push(entry);
      return entries;
    });
    const expected = this.#now().entries(this.#key);
    const plain = (entries: typeof shown): object[] =>
      entries.map(({ label, held, position, units, capacity }) => ({ label, held, position, units, capacity }));
    expect(plain(shown), 'the queue').toEqual(plain(expected));
    for (const [i, { label, remaining, token }] of shown.entries()) {
      const off = Math.abs(remaining - expected[i]!.remaining);
      expect(off, `the difference of when ${label} expires, ms`).toBeLessThan(2 * this.#slowest + SECOND / 2);
      const { tokens } = this.#joined.find(({ claim }) => claim.label === label)!;
      if (tokens.first === 0n) Object.assign(tokens, { first: token, last: token });
      expect(token, `the token of ${label}`).toBe(tokens.first);
    }
    this.#compareTokens();
    const present = new Set(shown.map(({ label }) => label));
    const gone = this.#joined.filter(({ claim }) => !present.has(claim.label) && !this.#gone.includes(claim));
    this.#gone.push(...gone.map(({ claim }) => claim));
  }

  /** The tokens of each claim are above those of all that joined before it. */
  #compareTokens(): void {
    const known = this.#joined.filter(({ tokens }) => tokens.first > 0n);
    for (const [i, { claim, tokens }] of known.entries())
      if (i > 0) expect(tokens.first, `the token of ${claim.label}`).toBeGreaterThan(known[i - 1]!.tokens.last);
  }

  #sentOf(id: string): Sent {
    return this.#joined.find(({ claim }) => claim.id === id)!;
  }

  #time(): number {
    return performance.now() + this.#passed;
  }

  /** The pure queue, at this time. */
  #now(): EngineQueue {
    return this.#pure.at(new EngineTime(this.#time()));
  }

  async #timed<T>(call: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await call();
    } finally {
      this.#slowest = Math.max(this.#slowest, performance.now() - began);
    }
  }
}

/** A claim of a process that listens from now on. */
const listenerOf = (): Claim => ({
  ...{ key: 'listener', id: systemClock.id(), ...EXCLUSIVE, ttl: SECOND },
  ...{ queue: true, tokenCount: 1, within: SECOND, label: '' },
});

/** What is printed with a failure runs the same steps again, as `QUEUE_SEED=… QUEUE_PATH=…`. */
const { QUEUE_SEED, QUEUE_PATH } = process.env;

/** Takes random steps, and fails at the first at which the engine and the pure queue differ. */
export async function compareQueues(subject: QueueSubject, numRuns: number): Promise<void> {
  const steps = fc.array(step, { minLength: 10, maxLength: 40 });
  // A claim whose process does not listen may lose its place to silence, and one that is asleep is not meant here.
  await using _ = await subject.backend.watch!(listenerOf(), () => {});
  const again = { ...(QUEUE_SEED && { seed: Number(QUEUE_SEED) }), ...(QUEUE_PATH && { path: QUEUE_PATH }) };
  let undecided = 0;
  const property = fc.asyncProperty(steps, async (all) => {
    const twins = new Twins(subject);
    try {
      for (const each of all) await twins.take(each);
    } catch (difference) {
      if (twins.isInTime) throw difference;
      undecided++;
    }
  });
  await fc.assert(property, { numRuns, endOnFailure: true, ...again });
  expect(undecided, 'runs in which the machine stood still').toBeLessThan(numRuns / 2);
}
