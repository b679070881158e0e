import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The longest path of a socket, bytes. The system keeps 108 on Linux and 104 elsewhere, with a NUL at the end, and cuts a longer path silently. */
const MAX_PATH = process.platform === 'linux' ? 107 : 103;
const NAME_LENGTH = 16;
/** How many characters at the end of a name are the process id, in base 36. */
const PID_LENGTH = 6;

/** On Windows a socket is a pipe. It disappears with its process. */
export const isPipe = process.platform === 'win32';

/** The directory of the sockets of a locks file: beside it or, if that path is too long, among temporary files. On Windows, pipes have their own. */
export function socketDirectory(file: string): string {
  if (isPipe) return '\\\\.\\pipe\\';
  if (fits(beside(file))) return beside(file);
  const short = createHash('sha256').update(file).digest('hex').slice(0, NAME_LENGTH);
  return join(tmpdir(), `holdfast-${process.getuid!()}-${short}`);
}

/** A socket beside the file is found by its name alone, also by a process that sees the directory under another path. */
export const isBeside = (directory: string, file: string): boolean => isPipe || directory === beside(file);

const beside = (file: string): string => `${file}-sockets`;

const fits = (directory: string): boolean => Buffer.byteLength(directory) + 1 + NAME_LENGTH <= MAX_PATH;

/** A name that no other process ever has. @param random 128 random bits, in hexadecimal digits */
export function socketName(random: string, pid: number = process.pid): string {
  if (isPipe) return `holdfast-${random}`;
  const digits = BigInt(`0x${random}`).toString(36).padStart(NAME_LENGTH, '0');
  return digits.slice(-(NAME_LENGTH - PID_LENGTH)) + pid.toString(36).padStart(PID_LENGTH, '0');
}

/** @throws Error when other users could read or replace files in `directory`, or when its path is too long */
export function makePrivate(directory: string): void {
  if (isPipe) return;
  if (!fits(directory)) throw new Error(`${directory} is too long for a socket`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { mode, uid } = lstatSync(directory);
  if (uid !== process.getuid!() || (mode & 0o077) !== 0) throw new Error(`${directory} is not private to this user`);
}

export function removeSocket(path: string): void {
  try {
    // Not rmSync(): in some versions of Node it reads the state of the socket first. Then the next realpathSync() does not follow links,
    // and import() does not find a package that is a link, as with pnpm.
    if (!isPipe) unlinkSync(path);
  } catch {} // the socket is gone, this user may not remove it, or something else has this name
}

/**
 * Whether this error of a connection proves that the process with this socket is dead. Linux refuses a connection only if no process
 * listens. macOS and the BSDs also refuse a connection while the backlog of a stopped process is full (unix(4), connect(2)). So on these
 * systems the process id must be gone, too. If another process has that id by now, the claims of the dead process end with their leases.
 */
export function provesDeath(
  trouble: string | undefined,
  name: string,
  platform: NodeJS.Platform = process.platform,
  isGone: (pid: number) => boolean = isProcessGone,
): boolean {
  if (platform === 'win32') return trouble === 'ENOENT';
  if (trouble !== 'ECONNREFUSED') return false;
  return platform === 'linux' || isGone(Number.parseInt(name.slice(-PID_LENGTH), 36));
}

function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // another code: the process may belong to another user
  }
}

/** A connection that never keeps the process alive and never throws. Its end calls `over` once, with the code of the error if there was one. */
export function dial(path: string, met: () => void, over: (trouble: string | undefined) => void): Socket {
  let trouble: string | undefined;
  return connect(path)
    .unref()
    .once('connect', met)
    .on('error', (error: NodeJS.ErrnoException) => {
      trouble = error.code;
    })
    .once('close', () => over(trouble))
    .resume();
}

/** Connects and closes again. `answer` gets undefined if a process listens, else the code of the error. */
export function probe(path: string, answer: (trouble: string | undefined) => void): void {
  const socket = dial(path, () => socket.destroy(), answer);
}

/** Whether the process with this name may be alive. */
export function answers(file: string, name: string): Promise<boolean> {
  const path = resolve(socketDirectory(file), name);
  // ENOENT: the socket was removed, and no process will listen under its name again.
  return new Promise((answer) => probe(path, (trouble) => answer(trouble !== 'ENOENT' && !provesDeath(trouble, name))));
}
