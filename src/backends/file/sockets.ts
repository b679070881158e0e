import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `sun_path` has 108 bytes on Linux and 104 elsewhere, the last one a NUL. A longer name would be cut, silently. */
const LONGEST = process.platform === 'linux' ? 107 : 103;
const NAME = 16;

/** On Windows a socket is a pipe, whose name goes with its process. */
export const isPipe = process.platform === 'win32';

/**
 * Where the processes that share the locks file have their sockets: beside it or, where that path is too long, in the
 * directory for temporary files. On Windows pipes have a place of their own.
 */
export function socketDirectory(file: string): string {
  if (isPipe) return '\\\\.\\pipe\\';
  if (fits(beside(file))) return beside(file);
  const short = createHash('sha256').update(file).digest('hex').slice(0, NAME);
  return join(tmpdir(), `holdfast-${process.getuid!()}-${short}`);
}

/** Then a name alone says where the socket is, also to a process that sees the directory under another path. */
export const isBeside = (directory: string, file: string): boolean => isPipe || directory === beside(file);

const beside = (file: string): string => `${file}-bells`;

const fits = (directory: string): boolean => Buffer.byteLength(directory) + 1 + NAME <= LONGEST;

/** @param random from which a name is made that no other process has had or will have */
export const socketName = (random: string): string => (isPipe ? `holdfast-${random}` : random.slice(0, NAME));

/** @throws Error when others could read or replace what is in it, or when the path is too long even so. */
export function makePrivate(directory: string): void {
  if (isPipe) return;
  if (!fits(directory)) throw new Error(`${directory} is too long for a socket`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { mode, uid } = lstatSync(directory);
  if (uid !== process.getuid!() || (mode & 0o077) !== 0) throw new Error(`${directory} is not private to this user`);
}

export function removeSocket(path: string): void {
  try {
    // Not by rmSync(): where that is written in JavaScript it looks at the socket first, and after a look at a socket the next
    // realpathSync() of Node's leaves links as they are, the one by which import() finds a package (pnpm's are links) too.
    if (!isPipe) unlinkSync(path);
  } catch {} // it is gone, or stays: without the right to, or because it is no socket
}
