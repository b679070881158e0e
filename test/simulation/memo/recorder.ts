import type { MemoRun } from '../../../src/memo/memo.ts';
import type { MemoEvent } from './history.ts';

type Unstamped<E> = E extends MemoEvent ? Omit<E, 'at'> : never;

/** One that asks for memos. */
interface Process {
  readonly name: string;
  readonly crashed: boolean;
}

interface Running {
  readonly op: number;
  readonly process: Process;
  readonly run: MemoRun;
}

/** Writes down what the callers of memos see. */
export class MemoRecorder {
  readonly events: MemoEvent[] = [];
  readonly #world: { readonly now: number };
  readonly #running = new Set<Running>();
  #ops = 0;

  constructor(world: { readonly now: number }) {
    this.#world = world;
  }

  add(event: Unstamped<MemoEvent>): void {
    this.events.push({ at: this.#world.now, ...event } as MemoEvent);
  }

  asks(process: Process, key: string): number {
    const op = this.#ops++;
    this.add({ what: 'asked', op, by: process.name, key });
    return op;
  }

  forgets(process: Process, key: string): () => void {
    const op = this.#ops++;
    const { name: by } = process;
    this.add({ what: 'forgets', op, by, key });
    return () => this.add({ what: 'forgot', op, by, key });
  }

  begins(op: number, process: Process, run: MemoRun): Disposable {
    const running = { op, process, run };
    this.#running.add(running);
    this.add({ what: 'begun', op, key: run.key, token: run.token });
    return { [Symbol.dispose]: () => void this.#running.delete(running) };
  }

  holds(process: Process): boolean {
    return [...this.#running].some((each) => each.process === process && each.run.held);
  }

  /** After each event: whether two runs of one key believe that nobody else has begun. */
  readonly see = (): void => {
    const living = [...this.#running].filter(({ process, run }) => !process.crashed && run.held);
    for (const [key, runs] of Map.groupBy(living, ({ run }) => run.key))
      if (runs.length > 1) this.add({ what: 'believed', key, ops: runs.map(({ op }) => op) });
  };
}
