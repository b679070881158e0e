import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { UsageError } from './exit.ts';

/** What the command line, its help and its completion know of a command. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The arguments after its name: `<key>`, `[prefix]`. */
  readonly takes: readonly string[];
  readonly options: ParseArgsOptionsConfig;
  readonly help: string;
  /** @returns the exit code */
  run(args: readonly string[]): Promise<number>;
}

interface Input<O extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<{ options: O }>>['values'];
  readonly positionals: readonly string[];
  /** The words after the `--`. */
  readonly rest: readonly string[];
}

interface Plan<O extends ParseArgsOptionsConfig> extends Omit<Command, 'run' | 'options'> {
  readonly options: O;
  run(input: Input<O>): Promise<number>;
}

/** Makes a command that parses and counts its arguments before it runs. */
export function command<const O extends ParseArgsOptionsConfig>(plan: Plan<O>): Command {
  const { takes, options } = plan;
  const passes = takes.includes('--');
  const names = takes.slice(0, passes ? takes.indexOf('--') : undefined);
  const needed = names.filter((name) => name.startsWith('<'));
  return {
    ...plan,
    run(args) {
      const [own, rest] = passes ? split(args) : [args, []];
      // This check comes first: without the `--`, errors in the command's own arguments would look like errors in ours.
      if (passes && rest.length === 0)
        throw new UsageError(`the command is missing; write it after --: holdfast ${plan.name} ${takes.join(' ')}`);
      const { values, positionals } = parseArgs({ args: [...own], options, allowPositionals: true });
      if (positionals.length < needed.length) throw new UsageError(`${needed[positionals.length]} is missing`);
      if (positionals.length > names.length)
        throw new UsageError(`${JSON.stringify(positionals[names.length])} is an argument too many`);
      return plan.run({ values, positionals, rest });
    },
  };
}

export function split(args: readonly string[]): [own: readonly string[], rest: readonly string[]] {
  const at = args.indexOf('--');
  return at < 0 ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}
