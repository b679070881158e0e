import { randomFrom } from '../../products/testing/random.ts';
import { Choice } from '../../test/simulation/choice.ts';
import { Process } from '../../test/simulation/process.ts';
import { World } from '../../test/simulation/world.ts';
import { Actor } from './actor.ts';
import { type Happening, PEOPLE, type What, type Who } from './events.ts';
import { Library } from './library.ts';
import type { ObservedEngine } from './line.ts';
import { LabNetwork } from './network.ts';
import { Resource } from './resource.ts';
import type { Setting } from './setting.ts';
import { since } from './since.ts';
import { Store } from './store.ts';
import { Story } from './story.ts';
import { Troubles } from './troubles.ts';

/** Ways take this long, ms: so long that they can be seen. */
const DELAY = [25, 45] as const;
/** How wrong the rates of clocks are, either way. */
const DRIFT = 0.004;

/** What a scene says of its processes. */
interface Cast {
  readonly ttl: number;
  readonly ahead?: Partial<Record<Who, number>>;
}

/** The part of a way to do the job that a run needs. */
interface Job {
  readonly naive: boolean;
  readonly engines?: number;
  readonly ttl?: number;
  readonly job: (actor: Actor) => Promise<void>;
}

/** Everything of one run: true time, the processes, what they talk to, and what is told. */
export class Stage implements Setting {
  readonly world = new World();
  readonly choice: Choice;
  readonly network: LabNetwork;
  readonly resource: Resource;
  readonly actors: readonly Actor[];
  readonly stores: readonly Store[];
  readonly library: Library | undefined;
  readonly story = new Story();
  readonly troubles: Troubles;
  readonly #machines: readonly Process[];
  readonly #way: Job;
  #origin = 0;

  constructor(scene: Cast, way: Job, seed: number) {
    this.troubles = new Troubles(this);
    const choice = new Choice(randomFrom(seed));
    this.choice = choice;
    this.#way = way;
    const drift = (): number => 1 + choice.between(-DRIFT, DRIFT);
    this.network = new LabNetwork(this.world, choice, DELAY);
    this.resource = new Resource(this.world, choice);
    const names = Array.from({ length: way.engines ?? 1 }, (_, i) => `engine ${i + 1}`);
    this.#machines = names.map((name) => new Process(name, this.world, 1, choice.random));
    this.library = way.naive ? undefined : new Library(this.#machines, this);
    this.stores = way.naive ? this.#machines.map((machine) => new Store(machine)) : [];
    this.actors = PEOPLE.map((name, i) => {
      const rate = drift();
      const process = new Process(name, this.world, rate, randomFrom(seed * 31 + i));
      const actor = new Actor(process, { rate, ahead: scene.ahead?.[name] ?? 0 }, this);
      actor.locks = this.library?.locksOf(process, way.ttl ?? scene.ttl);
      return actor;
    });
    this.network.served = (process, machine, kind, answer) => this.library?.served(process, machine, kind, answer);
    this.network.onLost = ({ from, to, kind, answer }) =>
      this.tell({ what: 'lost', who: from, other: to, code: answer ? `${kind}-answer` : kind });
    this.network.onHeld = ({ from, to, kind, answer, held }) =>
      this.tell({ what: 'held-up', who: from, other: to, n: held!.ms, code: answer ? `${kind}-answer` : kind });
  }

  /** True ms since the scene began. */
  get now(): number {
    return since(this.world.now, this.#origin);
  }

  get engines(): readonly (ObservedEngine & { readonly machine: Process })[] {
    return this.#machines.map((machine, i) => ({
      name: machine.name,
      machine,
      line: () =>
        this.library?.line(this.library.engines[i]!) ??
        this.stores[i]!.line((time) => this.now + time - machine.clock.now()),
    }));
  }

  actor(who: Who): Actor {
    return this.actors.find(({ name }) => name === who)!;
  }

  process(name: string): Process | undefined {
    return [...this.actors.map(({ process }) => process), ...this.#machines].find((process) => process.name === name);
  }

  /** Each process asks the engine once, which tells it what time it is there; then the scene begins. */
  async open(): Promise<void> {
    if (this.library) {
      let open = this.actors.length;
      for (const { name, locks } of this.actors) {
        void locks!
          .mutex(`hello ${name}`)
          .run(async () => {})
          .finally(() => open--);
      }
      await this.world.run(
        5_000,
        () => {},
        () => open === 0,
      );
    }
    this.#origin = this.world.now;
    this.story.clear();
    this.network.begin();
  }

  at(ms: number, fn: () => void): void {
    this.world.at(this.#origin + ms, fn);
  }

  tell(happening: Omit<Happening, 'at'>): void {
    this.story.tell({ at: this.now, ...happening });
  }

  /** Calls `fn` when that is told for the first time from now on. */
  once(what: What, who: string, fn: () => void): void {
    this.story.once(what, who, fn);
  }

  /** A process begins its job, unless it is at it. */
  start(who: Who): void {
    const actor = this.actor(who);
    if (actor.process.crashed || actor.doing !== 'idle') return;
    actor.process.deliver(() => {
      actor.asks();
      void this.#way.job(actor).then(
        () => {
          actor.rests();
          actor.tell('finishes');
        },
        (error: Error & { code?: string }) => {
          actor.rests();
          actor.failed = error.code ?? error.message;
          if (error.code !== 'LOCK_FENCED') actor.tell('gives-up', { code: actor.failed });
        },
      );
    });
  }
}
