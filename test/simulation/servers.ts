import { around } from '../../products/testing/around.ts';
import type { quorum } from '../../src/backends/quorum/index.ts';
import type { Backend, QueueEntry } from '../../src/core/contract/backend.ts';
import { Client, Engine, type Serve, type Wire } from './engine.ts';
import type { Scene } from './history.ts';
import type { Process } from './process.ts';
import { Session } from './session.ts';

/** What one process reaches of the engine, and how many watches it has there. */
export interface Side {
  readonly backend: Backend;
  readonly watches: () => number;
  /** To be told when the process has crashed. */
  readonly crashed: () => void;
}

/** The engine of a run: one server, or several of which a majority decides. */
export class Servers {
  readonly engines: readonly Engine[];
  /** Claims evicted by force, as `key:token`, and so the votes of them that a node had: of a quorum these may have other numbers. */
  readonly evicted = new Set<string>();
  onEvicted: (key: string) => void = () => {};

  readonly #join: typeof quorum;

  constructor(machines: readonly Process[], join: typeof quorum, serve?: (node: number) => Serve) {
    this.#join = join;
    this.engines = machines.map((machine, node) => new Engine(machine, serve?.(node)));
    for (const engine of this.engines)
      engine.onEvicted = (key, token) => {
        this.evicted.add(`${key}:${token}`);
      };
  }

  /** @param called at each call that core makes */
  connect(network: Wire, process: Process, scene: Scene, called: () => void): Side {
    const clients = this.engines.map((engine) => new Client(engine, network, process, scene));
    for (const client of clients) client.onCall = called;
    const session = scene.keptBy === 'session' ? new Session(this.engines[0]!, clients[0]!) : undefined;
    const one = session?.backend ?? clients[0]!;
    const backend = clients.length === 1 ? one : this.#join(clients, { clock: process.clock });
    const evict = (key: string, token: bigint): Promise<boolean> => {
      this.evicted.add(`${key}:${token}`);
      this.onEvicted(key);
      return backend.evict!(key, token);
    };
    return {
      backend: around(backend, { evict }),
      watches: () => clients.reduce((sum, { watches }) => sum + watches, 0),
      crashed: () => session?.end(),
    };
  }

  /** Living claims, of each. */
  lists(): Promise<QueueEntry[][]> {
    return Promise.all(this.engines.map((engine) => engine.standings('')));
  }
}
