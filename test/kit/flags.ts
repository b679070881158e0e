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
  const parsed = parsedOr(usage, {
    ...config,
    options: { ...config.options, help: { type: 'boolean' } },
  } as WithHelp<C>);
  if ((parsed.values as { help?: boolean }).help) {
    console.log(usage);
    process.exit(0);
  }
  return parsed;
}

function parsedOr<C extends ParseArgsConfig>(usage: string, config: C): ReturnType<typeof parseArgs<C>> {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}
