import { styleText } from 'node:util';
import { counted, visible } from '../../../src/core/index.ts';

const SECOND_SCREEN = '\u001b[?1049h\u001b[?25l';
const FIRST_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const REST_OF_LINE = '\u001b[K';
const REST_OF_SCREEN = '\u001b[J';
/** The rows of a terminal that does not know its size and says 0: a serial line, or a container before its first resize. */
const USUAL_ROWS = 24;

/** Shows pages on the terminal's second screen, each over the last. Without a terminal, it prints each below the last. */
export class Screen implements Disposable {
  readonly #terminal = process.stdout.isTTY;

  constructor() {
    if (this.#terminal) process.stdout.write(SECOND_SCREEN);
  }

  /** @param page gives its lines, none wider than `width` */
  show(page: (width?: number) => readonly string[]): void {
    if (!this.#terminal) {
      console.log(`${page().join('\n')}\n`);
      return;
    }
    const { columns, rows } = process.stdout;
    const lines = fitting(page(columns || undefined), (rows || USUAL_ROWS) - 1);
    process.stdout.write(HOME + lines.map((line) => `${line}${REST_OF_LINE}\n`).join('') + REST_OF_SCREEN);
  }

  [Symbol.dispose](): void {
    if (this.#terminal) process.stdout.write(FIRST_SCREEN);
  }
}

/** Gives the lines that fit. The last line counts the others. */
export function fitting(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length <= rows) return lines;
  const shown = Math.max(0, rows - 1);
  return [...lines.slice(0, shown), `… and ${lines.length - shown} more`];
}

export const complain = (message: string): void =>
  console.error(`${styleText('red', 'holdfast:', { stream: process.stderr })} ${visible(message)}`);

const START_OF_LINE = '\r';
/** The time until the first report, and between two reports, ms. */
const FIRST_REPORT_MS = 500;
const FRAME_MS = 100;

/**
 * Shows the progress of a listing on one line of standard error, and clears it at the end: only on a terminal, and only if the
 * listing takes long.
 */
export async function withProgress<T>(list: (progress: (looked: number) => void) => Promise<T>): Promise<T> {
  let next = performance.now() + FIRST_REPORT_MS;
  let shown = false;
  try {
    return await list((looked) => {
      if (!process.stderr.isTTY || performance.now() < next) return;
      next = performance.now() + FRAME_MS;
      shown = true;
      process.stderr.write(`${START_OF_LINE}${counted(looked, 'key')} looked at…${REST_OF_LINE}`);
    });
  } finally {
    if (shown) process.stderr.write(START_OF_LINE + REST_OF_LINE);
  }
}
