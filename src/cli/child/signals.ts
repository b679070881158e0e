import type { ProcessGroup } from './group.ts';
import { notIgnored } from './inherited.ts';

/** Signals from a user or the system, which are for the command. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** ^Z: in a pipeline it would stop us alone. The command would then run past the end of the lease. */
const REFUSED = 'SIGTSTP';

const ignore = (): void => {};

/** Passes signals to the command. It keeps early ones until the command is there. Ignored signals stay ignored. */
export class Signals implements Disposable {
  readonly #early: NodeJS.Signals[] = [];
  #group: ProcessGroup | undefined;
  readonly #hear = (name: NodeJS.Signals): void => {
    if (this.#group) this.#group.signal(name);
    else this.#early.push(name);
  };

  constructor() {
    for (const name of notIgnored(PASSED_ON)) process.on(name, this.#hear);
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
