import { startWorker, type WorkerProcess } from '../../test/kit/processes.ts';
import type { Happening } from '../rush/happening.ts';
import { start } from '../rush/start-signal.ts';
import type { Calls, Plan } from './service.worker.ts';

export interface Tap {
  readonly driver: string;
  readonly order: number;
}

/** How a tap was answered. */
export interface Answer {
  readonly ms: number;
  readonly failed: boolean;
}

const WORKER = new URL('./service.worker.ts', import.meta.url);

/** The service in several processes, and the drivers' phones. */
export class Fleet implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  #services: readonly { readonly url: string; readonly process: WorkerProcess<Calls> }[] = [];

  static async start(processes: number): Promise<Fleet> {
    const fleet = new Fleet();
    try {
      fleet.#services = await Promise.all(
        Array.from({ length: processes }, async () => {
          const process = fleet.#stack.use(await startWorker<Calls>(WORKER));
          return { process, url: await process.call('listen') };
        }),
      );
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The service changes over to this strategy. */
  async open(plan: Plan): Promise<void> {
    await this.#all((process) => process.call('open', plan));
  }

  /**
   * All of them tap in the same moment.
   * @param taps for each process
   * @param work ms between reading an order and giving it away, give or take half
   */
  async rush(taps: readonly (readonly Tap[])[], work: number): Promise<Answer[]> {
    await Promise.all(this.#services.map(({ process }, i) => process.call('expect', taps[i]?.length ?? 0, work)));
    const answers = Promise.all(this.#services.flatMap(({ url }, i) => (taps[i] ?? []).map((each) => tap(url, each))));
    await Promise.race([start(this.#services.map(({ process }) => process)), answers]);
    return answers;
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
    return Promise.all(this.#services.map(({ process }) => ask(process)));
  }
}

async function tap(url: string, { driver, order }: Tap): Promise<Answer> {
  const tapped = performance.now();
  const status = await fetch(`${url}/grab/${order}?driverId=${driver}`, {
    method: 'POST',
    signal: AbortSignal.timeout(20_000),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );
  return { ms: performance.now() - tapped, failed: status !== 201 && status !== 409 };
}
