import type { ProcessGroup } from './group.ts';
import { heeded } from './inherited.ts';

/** What a user or a system tells a process, and what therefore is for the command. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** ^Z: in a pipeline it would stop us alone, and the command would run on past the lease. */
const REFUSED = 'SIGTSTP';

const ignore = (): void => {};

/** Passes signals on, and keeps what comes until there is a command to hear it. What was ignored stays ignored. */
export class Signals implements Disposable {
  readonly #early: NodeJS.Signals[] = [];
  #group: ProcessGroup | undefined;
  readonly #hear = (name: NodeJS.Signals): void => {
    if (this.#group) this.#group.signal(name);
    else this.#early.push(name);
  };

  constructor() {
    for (const name of heeded(PASSED_ON)) process.on(name, this.#hear);
    process.on(REFUSED, ignore);
  }

  passTo(group: ProcessGroup): void {
    this.#group = group;
    for (const name of this.#early) group.signal(name);
  }

  [Symbol.dispose](): void {
    for (const name of PASSED_ON) process.off(name, this.#hear);
    process.off(REFUSED, ignore);
  }
}
