import assert from 'node:assert/strict';
import { admitted, EXCLUSIVE, SHARED, type Traits, type Units } from '../../core/index.ts';
import type { Contender } from '../contender.ts';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';

const STEPS = 80;
/** Longer lines show nothing new, and some engines need a connection for each claim. */
const LONGEST_LINE = 8;

/** Claims in random order come, ask again, renew, leave and are evicted. The engine and the rule must agree. */
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

/** Keeps the line as it should be at the engine. Of an engine without a line it keeps the holders. */
class History {
  readonly log: string[] = [];
  readonly #scene: Scene;
  readonly #traits: Traits;
  #line: Contender[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#traits = scene.clients[0].traits;
  }

  async step(): Promise<void> {
    const chance = this.#scene.random();
    const someone = this.#line[Math.floor(this.#scene.random() * this.#line.length)];
    if (!someone || (chance < 0.4 && this.#line.length < LONGEST_LINE)) await this.#arrives();
    else if (chance < 0.6) await this.#asksAgain(someone);
    else if (chance < 0.7 && this.#holds(someone)) await this.#renews(someone);
    else if (chance < 0.8 && this.#holds(someone) && someone.client.evict) await this.#isEvicted(someone);
    else await this.#leaves(someone);
  }

  /** Compares this line with what `inspect` shows. */
  async compare(): Promise<void> {
    if (!this.#scene.clients[0].inspect || !this.#traits.fair) return;
    const seen = (await this.#scene.standings()).map(({ label, held }) => ({ label, held }));
    assert.deepEqual(
      seen,
      this.#line.map((contender) => ({ label: contender.claim.label, held: this.#holds(contender) })),
    );
  }

  #holds(contender: Contender): boolean {
    return !this.#traits.fair || this.#line.indexOf(contender) < admitted(this.#line.map(({ claim }) => claim));
  }

  async #arrives(): Promise<void> {
    const queue = this.#scene.random() < 0.7;
    const newcomer = this.#scene.contender({ ...seats(this.#traits, this.#scene.random), queue });
    this.log.push(`${newcomer} comes${queue ? '' : ', without queue'}`);
    this.#line.push(newcomer);
    const fits = admitted(this.#line.map(({ claim }) => claim)) === this.#line.length;
    const { granted } = await newcomer.attempt();
    // An engine without a line may refuse a claim that fits. It never grants one that does not.
    if (this.#traits.fair || granted) assert.equal(granted, fits, `granted to ${newcomer}`);
    if (granted || (this.#traits.fair && queue)) return;
    this.#line.pop();
    if (!queue) await newcomer.hasNothing();
  }

  async #asksAgain(contender: Contender): Promise<void> {
    this.log.push(`${contender} asks again`);
    await (this.#holds(contender) ? contender.gets() : contender.waits());
  }

  async #renews(contender: Contender): Promise<void> {
    this.log.push(`${contender} renews`);
    await contender.renews();
  }

  async #isEvicted(contender: Contender): Promise<void> {
    this.log.push(`${contender} is evicted`);
    const { token } = await contender.gets();
    assert.equal(await this.#scene.clients[1].evict!(contender.claim.key, token), true, `${contender} holds`);
    this.#drop(contender);
    await contender.isGone();
  }

  async #leaves(contender: Contender): Promise<void> {
    this.log.push(`${contender} leaves`);
    await contender.leaves();
    this.#drop(contender);
  }

  #drop(contender: Contender): void {
    this.#line = this.#line.filter((other) => other !== contender);
  }
}

function seats(traits: Traits, random: () => number): Units {
  const among = (count: number): number => 1 + Math.floor(random() * count);
  const of = among(5);
  const kinds: Units[] = [EXCLUSIVE, SHARED, { units: among(of), capacity: of }];
  return kinds[Math.floor(random() * { exclusive: 1, shared: 2, counted: 3 }[traits.units])]!;
}
