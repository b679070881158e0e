import assert from 'node:assert/strict';
import { admitted, type Demand, EXCLUSIVE, SHARED, type Traits } from '../../../src/core/index.ts';
import { type Law, law } from '../case.ts';
import type { Participant } from '../participant.ts';
import type { Scene } from '../scene.ts';

const STEPS = 80;
/** Longer queues show nothing new, and some engines need a connection for each claim. */
const MAX_QUEUE = 8;

/** In random order, claims come, attempt again, are renewed, released and evicted. The engine and the rule must agree. */
export const histories: readonly Law[] = [
  law('random histories agree with the rule', async (scene) => {
    const history = new History(scene);
    try {
      for (let step = 0; step < STEPS; step++) await history.step();
      await history.compare();
    } catch (error) {
      throw new Error(`${(error as Error).message}\nwith seed ${scene.seed}, after\n${history.log.join('\n')}`, {
        cause: error,
      });
    }
  }),
];

/** Keeps the queue that the engine should have. For an engine without a queue it keeps only the holders. */
class History {
  readonly log: string[] = [];
  readonly #scene: Scene;
  readonly #traits: Traits;
  #queue: Participant[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#traits = scene.clients[0].traits;
  }

  async step(): Promise<void> {
    const { random } = this.#scene;
    const chance = random();
    const someone = this.#queue[Math.floor(random() * this.#queue.length)];
    if (!someone || (chance < 0.4 && this.#queue.length < MAX_QUEUE)) return this.#arrives();
    const holds = this.#holds(someone);
    if (chance < 0.6) {
      this.log.push(`${someone} asks again`);
      await (holds ? someone.gets() : someone.waits());
    } else if (chance < 0.7 && holds) {
      this.log.push(`${someone} renews`);
      await someone.renews();
    } else if (chance < 0.8 && holds && someone.client.evict) {
      this.log.push(`${someone} is evicted`);
      const { token } = await someone.gets();
      assert.equal(await this.#scene.clients[1].evict!(someone.claim.key, token), true, `${someone} holds`);
      this.#drop(someone);
      await someone.isGone();
    } else {
      this.log.push(`${someone} leaves`);
      await someone.leaves();
      this.#drop(someone);
    }
  }

  /** Compares this queue with what `inspect` shows. */
  async compare(): Promise<void> {
    if (!this.#scene.clients[0].inspect || !this.#traits.fair) return;
    const seen = (await this.#scene.entries()).map(({ label, held }) => ({ label, held }));
    const expected = this.#queue.map((each) => ({ label: each.claim.label, held: this.#holds(each) }));
    assert.deepEqual(seen, expected);
  }

  get #admitted(): number {
    return admitted(this.#queue.map(({ claim }) => claim));
  }

  #holds(participant: Participant): boolean {
    return !this.#traits.fair || this.#queue.indexOf(participant) < this.#admitted;
  }

  async #arrives(): Promise<void> {
    const queue = this.#scene.random() < 0.7;
    const newcomer = this.#scene.participant({ ...unitsFor(this.#traits, this.#scene.random), queue });
    this.log.push(`${newcomer} comes${queue ? '' : ', without queue'}`);
    this.#queue.push(newcomer);
    const fits = this.#admitted === this.#queue.length;
    const { granted } = await newcomer.attempt();
    // An engine without a queue may refuse a claim that fits. It never grants a claim that does not fit.
    if (this.#traits.fair || granted) assert.equal(granted, fits, `granted to ${newcomer}`);
    if (granted || (this.#traits.fair && queue)) return;
    this.#queue.pop();
    if (!queue) await newcomer.hasNothing();
  }

  #drop(participant: Participant): void {
    this.#queue = this.#queue.filter((other) => other !== participant);
  }
}

function unitsFor(traits: Traits, random: () => number): Demand {
  const among = (count: number): number => 1 + Math.floor(random() * count);
  const capacity = among(5);
  const kinds: Demand[] = [EXCLUSIVE, SHARED, { units: among(capacity), capacity }];
  return kinds[Math.floor(random() * { exclusive: 1, shared: 2, counted: 3 }[traits.units])]!;
}
