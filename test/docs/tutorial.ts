/** What a page that leads through files and commands says to do, as data. */
export type Step = FileStep | RunStep | { readonly does: 'interrupt'; readonly terminal: number };

export interface FileStep {
  readonly does: 'write' | 'append';
  readonly file: string;
  readonly text: string;
}

export interface RunStep {
  readonly does: 'run';
  readonly terminal: number;
  readonly commands: string;
  /** What the page says that they print. */
  readonly shows?: string;
}

/** A terminal's name at the start of a line, with what it says there; a block of code. */
const PART = /^\*\*(?:Terminal|终端) (\d)\*\*(.*)$|^```(\w+)\n([\s\S]*?)^```$/gm;
const FILE = /^\/\/ (at the end of )?([\w.-]+\.mjs)\n/;

export function stepsOf(page: string): Step[] {
  const steps: Step[] = [];
  let terminal = 0;
  for (const [, label, said, language, block = ''] of page.matchAll(PART)) {
    if (label !== undefined) {
      terminal = Number(label);
      if (said!.includes('Ctrl+C')) steps.push({ does: 'interrupt', terminal });
    } else if (language === 'js') {
      const [, end, file] = FILE.exec(block) ?? [];
      if (!file) throw new Error(`this block names no file:\n${block}`);
      steps.push({ does: end ? 'append' : 'write', file, text: block });
    } else if (language === 'sh') {
      steps.push({ does: 'run', terminal, commands: block });
    } else {
      const last = steps.at(-1);
      if (language !== 'text' || last?.does !== 'run') throw new Error(`this block follows no command:\n${block}`);
      steps.splice(-1, 1, { ...last, shows: block });
    }
  }
  return steps;
}

/**
 * What a page shows, as a pattern: `~` stands before what differs, `…` for what is left out, and the width of columns is free.
 * @param state of the commands: where they have ended, there is nothing behind it
 */
export function patternOf(shows: string, state: 'goes on' | 'ended'): RegExp {
  const parts = shows.trim().split(/(~\S+|…|\s+)/);
  const part = (text: string): string => {
    if (text.startsWith('~')) return '\\S+';
    if (text === '…') return '[^]*';
    return /^\s+$/.test(text) ? '\\s+' : text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  };
  return new RegExp(`^\\s*${parts.map(part).join('')}${state === 'ended' ? '\\s*$' : ''}`);
}

/** How long somebody had to wait, in s, and how many of all: by these it is judged whether the page shows what is usual. */
export const figuresOf = (text: string): number[] =>
  [...text.matchAll(/after ~?([\d.]+) s|~?(\d+) of /g)].map(([, time, count]) => Number(time ?? count));

/** The text with other ports, in one pass: a new port may contain the digits of an old one. */
export const withPorts = (text: string, ports: ReadonlyMap<string, number>): string =>
  text.replace(/\d+/g, (digits) => `${ports.get(digits) ?? digits}`);
