import { type ParseArgsConfig, parseArgs } from 'node:util';

type WithHelp<C extends ParseArgsConfig> = C & { readonly options: { readonly help: { readonly type: 'boolean' } } };

/**
 * The flags of a program that somebody has started by hand. `--help` prints the usage and ends it; a flag that it does not know ends it with 2.
 * @param usage what it is for on the first line, then its flags with their defaults
 */
export function flagsOf<const C extends ParseArgsConfig>(
  usage: string,
  config: C,
): ReturnType<typeof parseArgs<WithHelp<C>>> {
  const options = { ...config.options, help: { type: 'boolean' } };
  const parsed = orUsage(usage, () => parseArgs({ ...config, options } as WithHelp<C>));
  if ((parsed.values as { help?: boolean }).help) {
    console.log(usage);
    process.exit(0);
  }
  return parsed;
}

/** The flags as `read` gives them; what it throws ends the program with 2, after the message and the usage. */
export function orUsage<F>(usage: string, read: () => F): F {
  try {
    return read();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
