import { constants } from 'node:os';

/** What this process inherited, and Node changed at its start. */
export interface InheritedState {
  /** The ignored signals, except those that Node has no name for. */
  readonly ignored: readonly NodeJS.Signals[];
  /** The limit of open files, as `ulimit -S -n` prints it; undefined if nobody knows. */
  readonly openFiles: string | undefined;
  /** The inherited descriptors from 3 on. */
  readonly descriptors: readonly number[];
}

const NAME = 'HOLDFAST_INHERITED';
const FORM = /^([0-9a-f]{16}) (\d+|unlimited) ([\d,]*)$/;

/** Reads what the launcher (`products/cli/holdfast`) found. Empty without the launcher. */
function parseInherited(text: string | undefined): InheritedState {
  const [, mask, openFiles, descriptors] = FORM.exec(text ?? '') ?? [];
  const ignored = BigInt(`0x${mask ?? '0'}`); // proc(5): bit n − 1 is signal n
  return {
    ignored: Object.entries(constants.signals)
      .filter(([, number]) => (ignored >> BigInt(number - 1)) & 1n)
      .map(([name]) => name as NodeJS.Signals),
    openFiles,
    descriptors: (descriptors ?? '').split(',').filter(Boolean).map(Number),
  };
}

/** Variables that the launcher's shell dropped, one per line; \x01 in a value stands for a new line. */
const LEFT_OUT = 'HOLDFAST_LEFT_OUT';

for (const line of (process.env[LEFT_OUT] ?? '').split('\n').filter(Boolean)) {
  const at = line.indexOf('=');
  process.env[line.slice(0, at)] = line.slice(at + 1).replaceAll('\x01', '\n');
}

/** We read the variable once and delete it, so that commands that we start do not read it. */
export const inherited: InheritedState = parseInherited(process.env[NAME]);
delete process.env[NAME];
delete process.env[LEFT_OUT];

/** Ignores the inherited signals again: Node has restored their default action, which ends the process. */
export function keepIgnoring(): void {
  for (const name of inherited.ignored) {
    // Node itself ignores SIGPIPE, and refuses listeners for signals that the kernel never delivers.
    if (name !== 'SIGPIPE' && name !== 'SIGKILL' && name !== 'SIGSTOP') process.on(name, () => {});
  }
}

export const notIgnored = <N extends NodeJS.Signals>(names: readonly N[]): N[] =>
  names.filter((name) => !inherited.ignored.includes(name));
