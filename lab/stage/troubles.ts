import type { Process } from '../../test/simulation/process.ts';
import type { Setting } from './setting.ts';

/** What goes wrong with processes, engines and their links: by the plot of a scene, or by a person. By name. */
export class Troubles {
  readonly #setting: Setting;
  readonly #paused = new Set<Process>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  pause(name: string, ms = Number.POSITIVE_INFINITY): void {
    const process = this.#setting.process(name);
    if (!process || process.crashed || process.paused) return;
    process.pause(ms);
    this.#paused.add(process);
    this.#setting.tell({ what: 'paused', who: name });
    if (ms < Number.POSITIVE_INFINITY) this.#setting.world.in(ms, () => this.#wentOn(process));
  }

  resume(name: string): void {
    const process = this.#setting.process(name);
    if (!process?.paused) return;
    process.resume();
    this.#wentOn(process);
  }

  kill(name: string): void {
    const process = this.#setting.process(name);
    if (!process || process.crashed) return;
    process.crash();
    this.#setting.tell({ what: 'killed', who: name });
  }

  cut(name: string): void {
    if (this.#setting.network.isCut(name)) return;
    this.#setting.network.cut(name);
    this.#setting.tell({ what: 'cut', who: name });
  }

  mend(name: string): void {
    if (!this.#setting.network.isCut(name)) return;
    this.#setting.network.mend(name);
    this.#setting.tell({ what: 'mended', who: name });
  }

  #wentOn(process: Process): void {
    if (this.#paused.delete(process) && !process.crashed) this.#setting.tell({ what: 'goes-on', who: process.name });
  }
}
