import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file that a command writes its standard output to. Not a pipe: nobody has to read it while the command runs, and processes that
 * the command leaves behind cannot break it. Only this user can read it.
 */
export class Output implements Disposable {
  readonly descriptor: number;
  readonly #folder: string;
  readonly #path: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
    this.#path = join(this.#folder, 'output');
    this.descriptor = openSync(this.#path, 'wx', 0o600);
  }

  read(): Buffer {
    return readFileSync(this.#path);
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
