/** `holdfast <command> …`: the command line. */
import { readFileSync } from 'node:fs';
import { nearest } from '../../src/connect/open.ts';
import { keepIgnoring } from './child/inherited.ts';
import { type Command, split } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { EXIT, exitCodeOf, messageOf, UsageError } from './exit.ts';
import { complain } from './terminal/screen.ts';

/** @returns the exit code */
async function main([name = 'help', ...args]: readonly string[]): Promise<number> {
  const known = COMMANDS.some((command) => command.name === name);
  try {
    if (name === '--version' || name === '-V') return print(version());
    if (['help', '--help', '-h'].includes(name)) return print(help(args[0]));
    const wanted = commandOf(name);
    if (split(args)[0].some((arg) => arg === '--help' || arg === '-h')) return print(wanted.help);
    return await wanted.run(args);
  } catch (error) {
    const code = exitCodeOf(error);
    const line = messageOf(error);
    const end = line.endsWith('?') ? '' : '.';
    complain(code === EXIT.USAGE ? `${line}${end} See: holdfast ${known ? `${name} ` : ''}--help` : line);
    return code;
  }
}

function overview(commands: readonly Command[]): string {
  const lines = commands.map(({ name, takes, summary }) => `  ${[name, ...takes].join(' ').padEnd(30)}  ${summary}`);
  return `One at a time, across processes and machines.

  holdfast run backup -- ./backup.sh     a second run waits until the first has ended
  holdfast ls                            who holds what

${lines.join('\n')}

The locks are kept where --url says, else $HOLDFAST_URL, else in a local file. For example redis://127.0.0.1,
postgres://db/app, etcd://h1,h2,h3. Other users of the machine can see a password in --url, but not in HOLDFAST_URL.

  holdfast <command> --help              examples, options and exit codes
  holdfast --version`;
}

/** `package.json` is two folders up, in the sources and in the build. */
function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return `holdfast ${version}, Node.js ${process.version}`;
}

function help(name: string | undefined): string {
  return name === undefined ? overview(COMMANDS) : commandOf(name).help;
}

function commandOf(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found) return found;
  const meant = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  throw new UsageError(`there is no command ${JSON.stringify(name)}${meant ? `; did you mean ${meant}?` : ''}`);
}

function print(text: string): number {
  console.log(text);
  return EXIT.OK;
}

keepIgnoring();

// At every start Node 22 warns that its SQLite is experimental, which does not help the user of a command. HoldfastUnkeptWarning: the
// command itself reports an output that was not kept.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
  if (/SQLite is an experimental/.test(String(warning)) || rest[0] === 'HoldfastUnkeptWarning') return;
  Reflect.apply(emitWarning, process, [warning, ...rest]);
};

// EPIPE: the reader has closed the pipe, as `| head` does. Any other failure, a full disk for example, is an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.UNREAD);
  complain(`the output could not be written: ${error.message}`);
  process.exit(EXIT.IO);
});

process.exitCode = await main(process.argv.slice(2));
