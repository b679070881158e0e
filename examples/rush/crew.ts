import type { Happening } from './happening.ts';

/** A process of a rush, as all of them answer. */
export interface Member extends AsyncDisposable {
  call(name: 'takeNotes'): Promise<Happening[]>;
  call(name: 'handOvers'): Promise<number>;
  call(name: 'close'): Promise<unknown>;
}

/** The processes of a rush. */
export abstract class Crew<P extends Member> implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  protected processes: readonly P[] = [];

  /** One more process. */
  protected abstract hire(): Promise<P>;

  /** @param ready what each process has to do before it counts */
  protected async hireAll(count: number, ready: (process: P) => Promise<void> = async () => {}): Promise<this> {
    const hired = async (): Promise<P> => {
      const process = this.#stack.use(await this.hire());
      await ready(process);
      return process;
    };
    try {
      this.processes = await Promise.all(Array.from({ length: count }, hired));
      return this;
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What happened in each process. */
  notes(): Promise<Happening[][]> {
    return this.all((process) => process.call('takeNotes'));
  }

  async handOvers(): Promise<number> {
    return (await this.all((process) => process.call('handOvers'))).reduce((sum, n) => sum + n, 0);
  }

  /** Closes what `open` opened. */
  async close(): Promise<void> {
    await this.all((process) => process.call('close'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  protected all<T>(ask: (process: P) => Promise<T>): Promise<T[]> {
    return Promise.all(this.processes.map(ask));
  }
}
