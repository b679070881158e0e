import { readFileSync } from 'node:fs';
import type { Command } from './command.ts';

/** All commands at a glance. */
export function overview(commands: readonly Command[]): string {
  const lines = commands.map(({ name, takes, summary }) => `  ${[name, ...takes].join(' ').padEnd(30)}  ${summary}`);
  return `One at a time, across processes and machines.

  holdfast run backup -- ./backup.sh     a second one waits until the first has ended
  holdfast ls                            who holds what

${lines.join('\n')}

Where the locks are: --url, else $HOLDFAST_URL, else a file of yours. For example redis://127.0.0.1, postgres://db/app,
etcd://h1,h2,h3. In HOLDFAST_URL a password is not seen by others on the machine; on the command line it is.

  holdfast <command> --help              examples, options and exit codes
  holdfast --version`;
}

/** Of the package, which is two folders up from here, in the sources as in the build. */
export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return `holdfast ${version}, Node.js ${process.version}`;
}
