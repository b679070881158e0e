import type { Wire } from '../simulation/engine.ts';
import type { Process } from '../simulation/process.ts';
import type { Stage } from './stage.ts';

/** Between the processes and the server: when a message arrives, and whether, is chosen on the stage. */
export class ChosenNetwork implements Wire {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  call<T>(process: Process, machine: Process, work: () => Promise<T>): Promise<T> {
    process.connect();
    return new Promise<T>((resolve, reject) => {
      const broken = (): void =>
        this.#stage.send(
          machine.name,
          process,
          () => reject(new Error('the connection broke')),
          () => {},
        );
      const arrive = (): void =>
        void work().then(
          (answer) => this.#stage.send(machine.name, process, () => resolve(answer), broken),
          (error) => this.#stage.send(machine.name, process, () => reject(error), broken),
        );
      this.#stage.send(process.name, machine, arrive, broken);
    });
  }

  tell(process: Process, machine: Process, work: () => void): void {
    this.#stage.send(machine.name, process, work);
  }
}
