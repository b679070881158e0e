import { startWorker, type WorkerProcess } from '../../test/kit/processes.ts';
import { Crew } from '../rush/crew.ts';
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
export class Fleet extends Crew<WorkerProcess<Calls>> {
  readonly #urls = new Map<WorkerProcess<Calls>, string>();

  static start(processes: number): Promise<Fleet> {
    const fleet = new Fleet();
    return fleet.hireAll(processes, async (process) => void fleet.#urls.set(process, await process.call('listen')));
  }

  protected hire(): Promise<WorkerProcess<Calls>> {
    return startWorker<Calls>(WORKER);
  }

  /** The service changes over to this strategy. */
  async open(plan: Plan): Promise<void> {
    await this.all((process) => process.call('open', plan));
  }

  /**
   * All of them tap in the same moment.
   * @param taps for each process
   * @param work ms between reading an order and giving it away, give or take half
   */
  async rush(taps: readonly (readonly Tap[])[], work: number): Promise<Answer[]> {
    const { processes } = this;
    await Promise.all(processes.map((process, i) => process.call('expect', taps[i]?.length ?? 0, work)));
    const tapped = (process: WorkerProcess<Calls>, i: number): Promise<Answer>[] =>
      (taps[i] ?? []).map((each) => tap(this.#urls.get(process)!, each));
    const answers = Promise.all(processes.flatMap(tapped));
    await Promise.race([start(processes), answers]);
    return answers;
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
