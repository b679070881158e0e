import { appendFileSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { packedPackage } from '../kit/packed.ts';
import { Terminal } from './terminal.ts';
import { figuresOf, patternOf, type RunStep, type Step, withPorts } from './tutorial.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Whoever follows a tutorial: writes its files, types its commands, and compares what they print with what the page shows. */
export class Reader implements AsyncDisposable {
  readonly #folder: string;
  readonly #clone: string;
  readonly #project: string;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #terminals = new Map<number, Terminal>();
  /** What a command showed once it shows again, where the page does not repeat it. */
  readonly #shown = new Map<string, string>();

  /**
   * @param project the folder that the page works in, beside a clone
   * @param ports the page's, and what is used instead
   */
  constructor(folder: string, project: string, ports: ReadonlyMap<string, number>) {
    this.#folder = folder;
    this.#clone = join(folder, 'holdfast');
    this.#project = join(folder, project);
    this.#ports = ports;
    mkdirSync(this.#clone);
  }

  /** The one with that number. The third begins in the clone, and comes to the project by what the page says. */
  terminal(number: number): Terminal {
    const open = this.#terminals.get(number);
    if (open) return open;
    const { HOLDFAST_URL: _, ...rest } = process.env;
    const PATH = [dirname(process.execPath), rest.PATH].join(delimiter);
    // Without them npm asks the registry about the package, which is not there.
    const npm = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
    const env = { ...rest, ...npm, PATH, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', NO_COLOR: '1' };
    const terminal = new Terminal(number === 3 ? this.#clone : this.#project, env);
    this.#terminals.set(number, terminal);
    return terminal;
  }

  async follow(step: Step): Promise<void> {
    if ('file' in step) {
      const write = step.does === 'append' ? appendFileSync : writeFileSync;
      write(join(this.#project, step.file), this.#here(step.text));
    } else if (step.does === 'interrupt') await this.terminal(step.terminal).interrupt();
    else await this.#run(step);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#terminals.values()].map((terminal) => terminal[Symbol.asyncDispose]()));
  }

  #here(text: string): string {
    return withPorts(text, this.#ports);
  }

  async #run({ terminal, commands, shows }: RunStep): Promise<void> {
    if (shows !== undefined) this.#shown.set(commands, shows);
    const expected = this.#here(this.#shown.get(commands) ?? '');
    const on = this.terminal(terminal);
    const typed = this.#here(await this.#withoutRegistry(commands));
    await on.run(typed, (output) => expected !== '' && patternOf(expected, 'goes on').test(output));
    const printed = `${typed}${on.output}${on.errors}`;
    expect(on.code ?? 0, printed).toBe(0);
    if (expected === '') return;
    expect(on.output, printed).toMatch(patternOf(expected, on.code === undefined ? 'goes on' : 'ended'));
    const usual = figuresOf(expected);
    for (const [i, figure] of figuresOf(on.output).entries()) {
      expect(figure, printed).toBeGreaterThanOrEqual(usual[i]! / 2);
      expect(figure, printed).toBeLessThanOrEqual(usual[i]! * 2 + 2);
    }
  }

  /** What needs a whole clone or a registry is done with what is here; gives the other commands. */
  async #withoutRegistry(commands: string): Promise<string> {
    if (commands === 'npm ci && npm pack\n') {
      const { tarball } = await packedPackage(this.#folder);
      copyFileSync(tarball, join(this.#clone, basename(tarball)));
      return '';
    }
    const driver = 'npm install ioredis\n';
    if (commands.includes(driver))
      symlinkSync(join(root, 'node_modules/ioredis'), join(this.#project, 'node_modules/ioredis'));
    return commands.replace(driver, '');
  }
}
