import { memoryFence } from '../../src/fence/fence.ts';
import type { Choice } from '../../test/simulation/choice.ts';
import { Process } from '../../test/simulation/process.ts';
import type { World } from '../../test/simulation/world.ts';

/** What became of a write. */
export type WriteOutcome = 'written' | 'lost-another';

/** A number that processes count up by reading it and writing it back, and the guard beside it. */
export class Resource {
  readonly machine: Process;
  value = 0;
  /** How many accepted writes removed the write of another process. */
  lost = 0;
  writes = 0;
  newest: bigint | undefined;
  readonly #fence = memoryFence('the counter');

  constructor(world: World, { random }: Choice) {
    this.machine = new Process('resource', world, 1, random);
  }

  /** @throws LockError `LOCK_FENCED` */
  read(token: bigint | undefined): number {
    this.#claim(token);
    return this.value;
  }

  /** @throws LockError `LOCK_FENCED` */
  write(seen: number, token: bigint | undefined): WriteOutcome {
    this.#claim(token);
    this.writes++;
    const another = this.value !== seen;
    if (another) this.lost++;
    this.value = seen + 1;
    return another ? 'lost-another' : 'written';
  }

  /** Without a token nobody is guarded. */
  #claim(token: bigint | undefined): void {
    if (token === undefined) return;
    this.#fence.claim(token);
    this.newest = token;
  }
}
