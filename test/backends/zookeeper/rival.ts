import { fileURLToPath } from 'node:url';
import { LineProgram } from '../../kit/line-program.ts';
import { program } from '../../kit/programs.ts';

const JAR = '/usr/share/java/curator-recipes.jar';
/** It is compiled at each start. */
const SOURCE = fileURLToPath(new URL('Rival.java', import.meta.url));

export type Kind = 'mutex' | 'read' | 'write';

/** A Java program that locks a path with Apache Curator: see Rival.java. */
export class Rival implements AsyncDisposable {
  readonly #program: LineProgram;

  private constructor(started: LineProgram) {
    this.#program = started;
  }

  static async start(servers: string, path: string): Promise<Rival> {
    const args = ['-cp', program('curator', JAR), SOURCE, servers, path];
    return new Rival(await LineProgram.start(program('curator', 'java'), ...args));
  }

  /** Whether Curator gave it the lock within `ms`. */
  async takes(kind: Kind, ms: number): Promise<boolean> {
    return (await this.#program.ask(`take ${kind} ${ms}`, ms)) === 'yes';
  }

  async frees(kind: Kind): Promise<void> {
    await this.#program.ask(`free ${kind}`);
  }

  kill(): Promise<void> {
    return this.#program.kill();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}
