import { startWorker, type WorkerProcess } from '../../test/kit/processes.ts';
import type { Happening } from '../rush/happening.ts';
import { start } from '../rush/start-signal.ts';
import type { Calls, Plan } from './shop.worker.ts';

const WORKER = new URL('./shop.worker.ts', import.meta.url);

/** The shop in several processes. */
export class Shops implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  #processes: readonly WorkerProcess<Calls>[] = [];

  static async start(processes: number): Promise<Shops> {
    const shops = new Shops();
    try {
      shops.#processes = await Promise.all(
        Array.from({ length: processes }, async () => shops.#stack.use(await startWorker<Calls>(WORKER))),
      );
      return shops;
    } catch (error) {
      await shops[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** They sell in this way from now on. */
  async open(plan: Plan): Promise<void> {
    await this.#all((process) => process.call('open', plan));
  }

  /**
   * All buyers come in the same moment, spread over the processes.
   * @returns the ms that each waited for the answer
   */
  async rush(buyers: readonly string[], work: number): Promise<number[]> {
    const share = (process: number) => buyers.filter((_, i) => i % this.#processes.length === process);
    const bought = Promise.all(this.#processes.map((process, i) => process.call('buy', share(i), work)));
    const [waits] = await Promise.all([bought, start(this.#processes)]);
    return waits.flat();
  }

  /** What happened in each process. */
  notes(): Promise<Happening[][]> {
    return this.#all((process) => process.call('takeNotes'));
  }

  async handOvers(): Promise<number> {
    return (await this.#all((process) => process.call('handOvers'))).reduce((sum, n) => sum + n, 0);
  }

  /** Closes what `open` opened. */
  async close(): Promise<void> {
    await this.#all((process) => process.call('close'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  #all<T>(ask: (process: WorkerProcess<Calls>) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#processes.map(ask));
  }
}
