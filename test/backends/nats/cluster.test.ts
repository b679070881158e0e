import { Kvm } from '@nats-io/kv';
import { connect as open } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nats } from '../../../src/backends/nats/index.ts';
import { connect } from '../../../src/connect/index.ts';
import type { Locks } from '../../../src/index.ts';
import { type NatsCluster, startNatsCluster } from '../../kit/nats.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';

const PROCESSES = 3;

/** Holders of one key, one after the other, and whatever is wrong with them. */
class Ring implements AsyncDisposable {
  readonly wrong: string[] = [];
  readonly errors = new Map<string, number>();
  holds = 0;
  #inside = 0;
  #token = 0n;
  #ends = false;
  readonly #all: readonly Locks[];
  readonly #loops: Promise<void>[];

  constructor(all: readonly Locks[]) {
    this.#all = all;
    this.#loops = all.map((locks) => this.#goesRound(locks));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends = true;
    await Promise.all(this.#loops);
    for (const locks of this.#all) await locks.close();
  }

  /** Each process has had it so many times more. */
  async turns(more: number, within = 30_000): Promise<void> {
    const from = this.holds;
    await until(`${more} holds more`, () => this.holds - from >= more || this.wrong.length > 0, within);
  }

  async #goesRound(locks: Locks): Promise<void> {
    while (!this.#ends) {
      try {
        await locks.mutex('k', { ttl: '10s' }).run((lease) => this.#holds(lease.token!), { wait: '20s' });
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        this.errors.set(code ?? message, (this.errors.get(code ?? message) ?? 0) + 1);
      }
    }
  }

  async #holds(token: bigint): Promise<void> {
    if (this.#inside++ > 0) this.wrong.push('two were inside');
    if (token <= this.#token) this.wrong.push(`the token ${token} came after ${this.#token}`);
    this.#token = token;
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.#inside--;
    this.holds++;
  }
}

describeOn('nats', 'a bucket of NATS with three replicas', () => {
  let cluster: NatsCluster;
  beforeAll(async () => {
    cluster = await startNatsCluster();
  }, 60_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const ring = async (): Promise<Ring> =>
    new Ring(await Promise.all(Array.from({ length: PROCESSES }, () => connect(cluster.url))));

  test('check finds nothing, and processes that meet take turns', { timeout: 60_000 }, async () => {
    await using locks = await connect(cluster.url);
    expect(await locks.check()).toEqual([]);
    await using round = await ring();
    await round.turns(40);
    expect([round.wrong, [...round.errors]]).toEqual([[], []]);
  });

  test('the key goes round while one leader after the other is killed', { timeout: 120_000 }, async () => {
    await using round = await ring();
    await round.turns(5);
    for (let kill = 0; kill < 3; kill++) {
      const leader = await cluster.leader();
      await leader.kill();
      await round.turns(5);
      await leader.restart();
      await round.turns(5);
    }
    expect(round.wrong).toEqual([]);
  });

  test('a holder sees its own hold, whichever replica would answer', { timeout: 60_000 }, async () => {
    const connections = await Promise.all(
      cluster.servers.map(({ port }) => open({ servers: `127.0.0.1:${port}`, ignoreClusterUpdates: true })),
    );
    try {
      for (const connection of connections) {
        const bucket = await new Kvm(connection).create('seen', { replicas: 3 });
        const [holder, stranger] = [nats(bucket), nats(bucket)];
        const claim = { units: 1, capacity: 1, ttl: 60_000, queue: false, tokenCount: 1, within: 60_000, label: '' };
        for (let time = 0; time < 100; time++) {
          const mine = { ...claim, key: `k${time}`, id: crypto.randomUUID() };
          expect(await holder.attempt(mine)).toMatchObject({ granted: true });
          // It knows nothing of the key, so it has to read.
          expect(await stranger.renew([mine]), `hold ${time}`).toMatchObject([{ validFor: 60_000 }]);
          expect(await stranger.release(mine), `release ${time}`).toEqual({ freed: true });
        }
      }
    } finally {
      for (const connection of connections) await connection.close();
    }
  });
});
