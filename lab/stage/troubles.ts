import type { Process } from '../../test/simulation/process.ts';
import type { Stage } from './stage.ts';

/** What goes wrong with processes, engines and their links: by the plot of a scene, or by a person. By name. */
export class Troubles {
  readonly #stage: Stage;
  readonly #paused = new Set<Process>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  pause(name: string, ms = Number.POSITIVE_INFINITY): void {
    const process = this.#process(name);
    if (!process || process.crashed || process.paused) return;
    process.pause(ms);
    this.#paused.add(process);
    this.#stage.tell({ what: 'paused', who: name });
    if (ms < Number.POSITIVE_INFINITY) this.#stage.world.in(ms, () => this.#wentOn(process));
  }

  resume(name: string): void {
    const process = this.#process(name);
    if (!process?.paused) return;
    process.resume();
    this.#wentOn(process);
  }

  kill(name: string): void {
    const process = this.#process(name);
    if (!process || process.crashed) return;
    process.crash();
    this.#stage.tell({ what: 'killed', who: name });
  }

  cut(name: string): void {
    if (this.#stage.network.isCut(name)) return;
    this.#stage.network.cut(name);
    this.#stage.tell({ what: 'cut', who: name });
  }

  mend(name: string): void {
    if (!this.#stage.network.isCut(name)) return;
    this.#stage.network.mend(name);
    this.#stage.tell({ what: 'mended', who: name });
  }

  #process(name: string): Process | undefined {
    const { actors, engines } = this.#stage;
    return (
      actors.find((actor) => actor.name === name)?.process ?? engines.find((engine) => engine.name === name)?.machine
    );
  }

  #wentOn(process: Process): void {
    if (this.#paused.delete(process) && !process.crashed) this.#stage.tell({ what: 'goes-on', who: process.name });
  }
}
