import type { Process } from '../../test/simulation/process.ts';
import type { World } from '../../test/simulation/world.ts';
import type { Happening, Who } from './events.ts';
import type { LabNetwork } from './network.ts';
import type { Resource } from './resource.ts';
import type { Store } from './store.ts';

/** What everything in a run sees of it: true time, the network, and what is there to talk to. */
export interface Setting {
  readonly world: World;
  readonly network: LabNetwork;
  readonly resource: Resource;
  readonly stores: readonly Store[];
  /** True ms since the scene began. */
  readonly now: number;
  /** Calls `fn` so many ms after the beginning of the scene. */
  at(ms: number, fn: () => void): void;
  tell(happening: Omit<Happening, 'at'>): void;
  /** The processes by their names, those of the engines included. */
  process(name: string): Process | undefined;
}

/** The process that a client belongs to. */
export interface Caller {
  readonly name: Who;
  readonly process: Process;
  sleep(ms: number): Promise<void>;
}
