import { startWorker, type WorkerProcess } from '../../test/kit/processes.ts';
import { Crew } from '../rush/crew.ts';
import { start } from '../rush/start-signal.ts';
import type { Calls, Plan } from './shop.worker.ts';

const WORKER = new URL('./shop.worker.ts', import.meta.url);

/** The shop in several processes. */
export class Shops extends Crew<WorkerProcess<Calls>> {
  static start(processes: number): Promise<Shops> {
    return new Shops().hireAll(processes);
  }

  protected hire(): Promise<WorkerProcess<Calls>> {
    return startWorker<Calls>(WORKER);
  }

  /** They sell in this way from now on. */
  async open(plan: Plan): Promise<void> {
    await this.all((process) => process.call('open', plan));
  }

  /**
   * All buyers come in the same moment, spread over the processes.
   * @returns the ms that each waited for the answer
   */
  async rush(buyers: readonly string[], work: number): Promise<number[]> {
    const { processes } = this;
    const share = (process: number) => buyers.filter((_, i) => i % processes.length === process);
    const bought = Promise.all(processes.map((process, i) => process.call('buy', share(i), work)));
    const [waits] = await Promise.all([bought, start(processes)]);
    return waits.flat();
  }
}
