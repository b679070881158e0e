/** `holdfast <command> …`: the command line. */
import { keepIgnoring } from './child/inherited.ts';
import { split } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { EXIT, exitCodeOf, lineOf, UsageError } from './exit.ts';
import { overview, version } from './help.ts';
import { complain } from './terminal/say.ts';

/** @returns the exit code */
async function main([name = 'help', ...args]: readonly string[]): Promise<number> {
  const wanted = COMMANDS.find((command) => command.name === name);
  try {
    if (name === '--version' || name === '-V') return told(version());
    if (['help', '--help', '-h'].includes(name)) return told(help(args[0]));
    if (!wanted) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
    if (split(args)[0].some((arg) => arg === '--help' || arg === '-h')) return told(wanted.help);
    return await wanted.run(args);
  } catch (error) {
    const code = exitCodeOf(error);
    complain(code === EXIT.USAGE ? `${lineOf(error)}. See: holdfast ${wanted ? `${name} ` : ''}--help` : lineOf(error));
    return code;
  }
}

function help(name: string | undefined): string {
  const wanted = COMMANDS.find((command) => command.name === name);
  if (name !== undefined && !wanted) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
  return wanted?.help ?? overview(COMMANDS);
}

function told(text: string): number {
  console.log(text);
  return EXIT.OK;
}

keepIgnoring();

// Node 22 calls its SQLite experimental at every start, which is of no use to whoever runs a command.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
  if (!/SQLite is an experimental/.test(String(warning))) Reflect.apply(emitWarning, process, [warning, ...rest]);
};

// Who reads us has had enough, as `| head` has; anything else, a full disk for one, is told.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.UNREAD);
  complain(`what it prints could not be written: ${error.message}`);
  process.exit(EXIT.IO);
});

process.exitCode = await main(process.argv.slice(2));
