import { constants } from 'node:os';

/** What a process gets from whoever starts it, and what Node changes as it starts. */
export interface Inherited {
  /** Signals that were ignored, without those of which nobody can say that. */
  readonly ignored: readonly NodeJS.Signals[];
  /** How many files may be open, as `ulimit -S -n` has it; undefined where it is not known. */
  readonly openFiles: string | undefined;
  /** Descriptors from 3 on. */
  readonly descriptors: readonly number[];
}

const NAME = 'HOLDFAST_INHERITED';
const FORM = /^([0-9a-f]{16}) (\d+|unlimited) ([\d,]*)$/;

/** What the launcher (`src/cli/holdfast`) has found, which is nothing where Node was started without it. */
export function inheritedFrom(text: string | undefined): Inherited {
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

/** Variables that the launcher's shell has left out, one a line; in their values \x01 stands for a new line. */
const LEFT_OUT = 'HOLDFAST_LEFT_OUT';

for (const line of (process.env[LEFT_OUT] ?? '').split('\n').filter(Boolean)) {
  const at = line.indexOf('=');
  process.env[line.slice(0, at)] = line.slice(at + 1).replaceAll('\x01', '\n');
}

/** Read once; the commands that we start must not take it for theirs. */
export const inherited: Inherited = inheritedFrom(process.env[NAME]);
delete process.env[NAME];
delete process.env[LEFT_OUT];

/** Goes on ignoring what was ignored: Node has given it the default action, which is to end the process. */
export function keepIgnoring(): void {
  for (const name of inherited.ignored) {
    // Node itself ignores SIGPIPE, and refuses a listener for what the kernel never delivers.
    if (name !== 'SIGPIPE' && name !== 'SIGKILL' && name !== 'SIGSTOP') process.on(name, () => {});
  }
}

/** Of these signals, those that were not ignored. */
export const heeded = <N extends NodeJS.Signals>(names: readonly N[]): N[] =>
  names.filter((name) => !inherited.ignored.includes(name));
