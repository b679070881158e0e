import { setTimeout as sleep } from 'node:timers/promises';
import { startWorker, type WorkerProcess } from '../../../kit/processes.ts';
import { type FaultProxy, startProxy } from '../../../kit/proxy.ts';
import type { Site } from '../../../kit/sites.ts';
import type { AskerCalls } from './asker.worker.ts';
import { type Asking, machineTime, type Told } from './told.ts';

const WORKER = new URL('asker.worker.ts', import.meta.url);
const FOR_EVER = 1e9;

type Env = Readonly<Record<string, string>>;

/** A process of this machine with a connection of its own, to which things are done for real. */
export class RealProcess implements AsyncDisposable {
  readonly name: string;
  crashed = false;
  /** When the fault was done to it, by the time of the machine. */
  struck: number | undefined;
  /** When the engine had words of it, or a little before. */
  leftAt: number | undefined;
  /** What it told in this round. */
  told: Told[] = [];
  onTold: (event: Told) => void = () => {};
  readonly #site: Site;
  readonly #proxy: FaultProxy | undefined;
  #worker!: WorkerProcess<AskerCalls>;

  readonly #env: Env;

  private constructor(name: string, site: Site, env: Env, proxy: FaultProxy | undefined) {
    this.name = name;
    this.#site = site;
    this.#env = env;
    this.#proxy = proxy;
  }

  static async start(name: string, site: Site, env: Env): Promise<RealProcess> {
    const [port] = site.ports;
    const process = new RealProcess(name, site, env, port === undefined ? undefined : await startProxy(port));
    await process.#start();
    return process;
  }

  async #start(): Promise<void> {
    const { url, ports } = this.#site;
    const own = this.#proxy ? url.replace(`:${ports[0]}`, `:${this.#proxy.port}`) : url;
    const worker = await startWorker<AskerCalls>(WORKER, { env: { URL: own, ...this.#env } });
    this.#worker = worker;
    void this.#listen(worker);
  }

  async #listen(worker: WorkerProcess<AskerCalls>): Promise<void> {
    try {
      for (;;) {
        const event = (await worker.nextEvent('told', FOR_EVER)) as Told;
        this.told.push(event);
        this.onTold(event);
      }
    } catch {
      // It is dead, and whatever it had told was heard before.
    }
  }

  /** A new round. One that was killed is there again. */
  async ready(): Promise<void> {
    if (this.crashed) {
      await this.#worker[Symbol.asyncDispose]();
      await this.#start();
    }
    this.crashed = false;
    this.struck = undefined;
    this.leftAt = undefined;
    this.told = [];
    this.onTold = () => {};
  }

  /** @returns how late it ran at worst, ms; of a killed one nothing is known */
  async ask(ops: readonly number[], asking: Asking): Promise<number> {
    try {
      return await this.#worker.call('ask', ops, asking);
    } catch (error) {
      if (this.crashed) return 0;
      throw error;
    }
  }

  /** Resolves when it is over. */
  async strike(kind: string, ms: number): Promise<void> {
    this.struck = machineTime();
    if (kind === 'killed') {
      this.crashed = true;
      await this.#worker.kill();
    } else if (kind === 'stopped') {
      this.#worker.pause();
      await sleep(ms);
      this.#worker.resume();
    } else {
      this.#proxy!.refuse();
      this.#proxy!.cut();
      await sleep(ms);
      await this.#proxy!.pass();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]();
    await this.#proxy?.[Symbol.asyncDispose]();
  }
}
