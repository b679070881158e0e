import type { ProcessEvent } from '../events.ts';
import type { FromWorker, Question } from '../messages.ts';

/** What a process tells the referee, and asks it. */
export class Report {
  readonly #origin: bigint;
  readonly #questions = new Map<number, (value: number) => void>();
  #last = 0;

  /** @param origin the start by `process.hrtime`, ns: the same in all processes of the machine */
  constructor(origin: bigint) {
    this.#origin = origin;
  }

  /** ms since the start of the run. */
  now(): number {
    return Number(process.hrtime.bigint() - this.#origin) / 1e6;
  }

  tell(told: ProcessEvent, at: number = this.now()): void {
    send({ told: { ...told, at } });
  }

  ask(question: Question): Promise<number> {
    const ask = ++this.#last;
    return new Promise((resolve) => {
      this.#questions.set(ask, resolve);
      send({ ask, question });
    });
  }

  resolveAnswer(ask: number, value: number): void {
    this.#questions.get(ask)?.(value);
    this.#questions.delete(ask);
  }
}

/** If the referee is gone, this process ends at once, too. */
export function send(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
