import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { socketDirectory } from './sockets.ts';

/** What says that nobody will ever listen under a name. */
const GONE: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);

/** A connection that never keeps the process alive and never throws. `over` comes once, with the error's code if there was one. */
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

/** Looks whether anybody listens: undefined when so, else the error's code. */
export function probe(path: string, answer: (trouble: string | undefined) => void): void {
  const socket = dial(path, () => socket.destroy(), answer);
}

/** Whether the process that was given this name for the locks file may be alive. */
export function answers(file: string, bell: string): Promise<boolean> {
  const path = resolve(socketDirectory(file), bell);
  return new Promise((answer) => probe(path, (trouble) => answer(!GONE.has(trouble))));
}
