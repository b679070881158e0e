import type { RegisterStore } from '../../../src/backends/register/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';
import type { Wire } from '../engine.ts';
import type { Process } from '../process.ts';
import type { World } from '../world.ts';

/** What a document has of a claim. */
interface Stored {
  readonly id: string;
  readonly token: string;
  readonly beat: number;
  readonly life: number;
  readonly watched?: number;
}

/** A sign of life, and when it was written, in true time. */
interface Sign {
  readonly token: string;
  readonly beat: number;
  readonly at: number;
}

/** By how much the clocks of two processes may differ in what they count. */
const RATES = 1.01;

/** A register on a machine of its own, and what no process can see: for how long each sign of life has really been there. */
export class StoreMachine {
  /** A line for each document that tells of a longer watch than there can have been. */
  readonly wrong: string[] = [];
  /** How often a process took out what it had not watched for a whole life by itself. */
  sums = 0;
  readonly #machine: Process;
  readonly #world: World;
  readonly #all = shared();
  readonly #signs = new Map<string, Sign>();
  readonly #came = new Map<string, number>();

  constructor(machine: Process, world: World) {
    this.#machine = machine;
    this.#world = world;
  }

  /** As one process reaches it: each request has a fate of its own. */
  reachedBy(process: Process, network: Wire, watches: boolean): RegisterStore & { readonly open: () => number } {
    this.#came.set(process.name, this.#world.now);
    const store = memoryStore(this.#all, { clock: this.#machine.clock, watches });
    const machine = this.#machine;
    let open = 0;
    return {
      name: store.name,
      open: () => open,
      read: (key, signal) => network.call(process, machine, () => store.read(key, signal)),
      write: (key, text, ifVersion, signal) =>
        network.call(process, machine, async () => {
          const before = this.#all.entries.get(key)?.text;
          const written = await store.write(key, text, ifVersion, signal);
          if (written !== false) this.#look(process.name, before, text);
          return written;
        }),
      ...(watches && {
        async watch(key, tell) {
          const watch = await network.call(process, machine, async () =>
            store.watch!(key, (entry) => network.tell(process, machine, () => tell(entry))),
          );
          open++;
          return {
            async [Symbol.asyncDispose]() {
              open--;
              await watch[Symbol.asyncDispose]();
            },
          };
        },
      }),
    };
  }

  #look(by: string, before: string | undefined, text: string): void {
    const { now } = this.#world;
    const after = placesOf(text);
    for (const { id, token, beat, watched = 0 } of after) {
      const sign = this.#signs.get(id);
      if (sign?.token !== token || sign.beat !== beat) this.#signs.set(id, { token, beat, at: now });
      const age = now - this.#signs.get(id)!.at;
      if (watched > age * RATES + 1) this.wrong.push(`${by} wrote ${watched} ms of ${id}, which is ${age} ms old`);
    }
    for (const { id, life, watched = 0 } of before === undefined ? [] : placesOf(before)) {
      if (after.some((place) => place.id === id)) continue;
      const alone = now - Math.max(this.#signs.get(id)!.at, this.#came.get(by)!);
      if (watched > 0 && alone < life / RATES && now - this.#signs.get(id)!.at >= life / RATES) this.sums++;
    }
  }
}

const placesOf = (text: string): readonly Stored[] => (JSON.parse(text) as { claims?: Stored[] }).claims ?? [];
