import type { Incumbent, LeaderOptions } from '../../src/index.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { type FaultProxy, startProxy } from '../kit/proxy.ts';
import type { LeaderCalls, Told } from './leader.worker.ts';
import type { Site } from './sites.ts';

/** ms in which a test has its answer, on a machine that is busy with others. */
const PATIENT = 15_000;

/** A process that stands for election on several engines at once, over links of its own. */
export class Instance implements AsyncDisposable {
  readonly worker: WorkerProcess<LeaderCalls>;
  readonly #stands: ReadonlyMap<string, Stand>;

  private constructor(worker: WorkerProcess<LeaderCalls>, stands: ReadonlyMap<string, Stand>) {
    this.worker = worker;
    this.#stands = stands;
  }

  static async start(sites: ReadonlyMap<string, Pick<Site, 'url' | 'ports'>>): Promise<Instance> {
    const links = new Map<string, FaultProxy[]>();
    const urls: Record<string, string> = {};
    for (const [engine, { url, ports }] of sites) {
      const proxies = await Promise.all(ports.map((port) => startProxy(port)));
      links.set(engine, proxies);
      urls[engine] = ports.reduce((text, port, i) => text.replace(`:${port}`, `:${proxies[i]!.port}`), url);
    }
    const file = new URL('leader.worker.ts', import.meta.url);
    const worker = await startWorker<LeaderCalls>(file, { env: { URLS: JSON.stringify(urls) } });
    return new Instance(worker, new Map([...links].map(([engine, its]) => [engine, new Stand(worker, engine, its)])));
  }

  on(engine: string): Stand {
    return this.#stands.get(engine)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.worker[Symbol.asyncDispose]();
    } finally {
      for (const { links } of this.#stands.values()) for (const link of links) await link[Symbol.asyncDispose]();
    }
  }
}

/** What an instance does on one engine, and its link to that, which the test breaks. */
export class Stand {
  readonly #worker: WorkerProcess<LeaderCalls>;
  readonly #engine: string;
  /** One to each server; none to a file. */
  readonly links: readonly FaultProxy[];

  constructor(worker: WorkerProcess<LeaderCalls>, engine: string, links: readonly FaultProxy[]) {
    this.#worker = worker;
    this.#engine = engine;
    this.links = links;
  }

  /** The next thing of this kind that it tells about an election. */
  async heard(what: Told['what'], election: string, within = PATIENT): Promise<Told> {
    return (await this.#worker.nextEvent(`${what} ${this.#engine} ${election}`, within)) as Told;
  }

  /** @param work ms for which its function goes on after the end of the term */
  campaign(election: string, options: LeaderOptions, work = 0): Promise<void> {
    return this.#worker.call('campaign', this.#engine, election, options, work);
  }

  stop(election: string): Promise<void> {
    return this.#worker.call('stop', this.#engine, election);
  }

  resign(election: string): Promise<boolean> {
    return this.#worker.call('resign', this.#engine, election);
  }

  current(election: string): Promise<Incumbent | null> {
    return this.#worker.call('current', this.#engine, election);
  }

  /** How many stand in line and do not lead. */
  waiting(election: string): Promise<number> {
    return this.#worker.call('waiting', this.#engine, election);
  }

  observe(election: string, every: number): Promise<void> {
    return this.#worker.call('observe', this.#engine, election, every);
  }

  tellEvents(election: string): Promise<void> {
    return this.#worker.call('tellEvents', this.#engine, election);
  }

  /** Its requests still arrive; their answers vanish. */
  deaf(): void {
    for (const link of this.links) link.blackhole('down');
  }

  cutOff(): void {
    for (const link of this.links) link.blackhole();
  }

  /** New connections, and all is well. */
  async reconnect(): Promise<void> {
    for (const link of this.links) {
      link.cut();
      await link.pass();
    }
  }
}
