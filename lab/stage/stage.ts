import { randomFrom } from '../../src/testing/random.ts';
import { Choice } from '../../test/simulation/choice.ts';
import { Process } from '../../test/simulation/process.ts';
import { World } from '../../test/simulation/world.ts';
import { Actor } from './actor.ts';
import { type Happening, PEOPLE, type What, type Who } from './events.ts';
import { Library } from './library.ts';
import type { Place } from './line.ts';
import { LabNetwork } from './network.ts';
import { Resource } from './resource.ts';
import type { Scene, Way } from './scene.ts';
import { since } from './since.ts';
import { Store } from './store.ts';

/** Ways take this long, ms: so long that they can be seen. */
const DELAY = [25, 45] as const;
/** How wrong the rates of clocks are, either way. */
const DRIFT = 0.004;

/** Everything of one run: true time, the processes, what they talk to, and what is told. */
export class Stage {
  readonly world = new World();
  readonly choice: Choice;
  readonly network: LabNetwork;
  readonly resource: Resource;
  readonly actors: readonly Actor[];
  readonly stores: readonly Store[];
  readonly library: Library | undefined;
  readonly happenings: Happening[] = [];
  readonly #machines: readonly Process[];
  readonly #way: Way;
  readonly #told: ((happening: Happening) => void)[] = [];
  #origin = 0;

  constructor(scene: Scene, way: Way, seed: number) {
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

  get engines(): readonly (Place & { readonly machine: Process })[] {
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
    this.happenings.length = 0;
    this.network.begin();
  }

  at(ms: number, fn: () => void): void {
    this.world.at(this.#origin + ms, fn);
  }

  /** That somebody asks again, and again in vain, is told once. */
  tell(happening: Omit<Happening, 'at'>): void {
    const told = { at: this.now, ...happening };
    const { who, what, other, place } = happening;
    if (what === 'refused' || what === 'looks-taken') {
      const last = this.happenings.findLast((each) => each.who === who && each.place === place);
      if (last?.what === what && last.other === other) return;
    }
    this.happenings.push(told);
    for (const listener of [...this.#told]) listener(told);
  }

  /** Calls `fn` when that is told for the first time from now on. */
  once(what: What, who: string, fn: () => void): void {
    const listener = (happening: Happening): void => {
      if (happening.what !== what || happening.who !== who) return;
      this.#told.splice(this.#told.indexOf(listener), 1);
      fn();
    };
    this.#told.push(listener);
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

  pause(name: string, ms = Number.POSITIVE_INFINITY): void {
    const process = this.#process(name);
    if (!process || process.crashed || process.paused) return;
    process.pause(ms);
    this.tell({ what: 'paused', who: name });
    if (ms < Number.POSITIVE_INFINITY) this.world.in(ms, () => this.#wentOn(process));
  }

  resume(name: string): void {
    const process = this.#process(name);
    if (!process?.paused) return;
    process.resume();
    this.#wentOn(process);
  }

  kill(name: string): void {
    const process = this.#process(name);
    if (!process || process.crashed) return;
    process.crash();
    this.tell({ what: 'killed', who: name });
  }

  cut(name: string): void {
    if (this.network.isCut(name)) return;
    this.network.cut(name);
    this.tell({ what: 'cut', who: name });
  }

  mend(name: string): void {
    if (!this.network.isCut(name)) return;
    this.network.mend(name);
    this.tell({ what: 'mended', who: name });
  }

  read(actor: Actor, token: bigint | undefined): Promise<number> {
    return this.#atResource(actor, 'read', token, () => {
      const value = this.resource.read(token);
      this.tell({ what: 'reads', who: actor.name, n: value });
      return value;
    });
  }

  write(actor: Actor, seen: number, token: bigint | undefined): Promise<void> {
    return this.#atResource(actor, 'write', token, () => {
      const written = this.resource.write(seen, token);
      this.tell({ what: written === 'written' ? 'writes' : 'loses', who: actor.name, n: this.resource.value });
    });
  }

  #atResource<T>(actor: Actor, kind: 'read' | 'write', token: bigint | undefined, work: () => T): Promise<T> {
    this.network.next(kind);
    return this.network.call(actor.process, this.resource.machine, async () => {
      try {
        return work();
      } catch (error) {
        this.tell({ what: 'fenced', who: actor.name, token: `${token}`, other: `${this.resource.newest}`, code: kind });
        throw error;
      }
    });
  }

  #process(name: string): Process | undefined {
    return (
      this.actors.find((actor) => actor.name === name)?.process ?? this.#machines.find((each) => each.name === name)
    );
  }

  #wentOn(process: Process): void {
    if (!process.crashed && !process.paused) this.tell({ what: 'goes-on', who: process.name });
  }
}
