import { renameSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Clock } from '../../core/index.ts';
import { isBeside, isPipe, makePrivate, removeSocket, socketDirectory, socketName } from './sockets.ts';

const LONGEST_MESSAGE = 4_096;

/** A claim was admitted, with this token. */
export interface Message {
  readonly id: string;
  readonly token: number;
}

/** The socket on which this process hears that its claims were admitted. Its name is never used twice. */
export class OwnBell {
  /** The name as it is stored; '' if this process has no socket. */
  readonly name: string;
  readonly directory: string;
  readonly #server: Server | undefined;
  readonly #callers = new Set<Socket>();

  private constructor(directory: string, name: string, server: Server | undefined, heard: (message: Message) => void) {
    this.directory = directory;
    this.name = name;
    this.#server = server;
    server?.on('connection', (socket) => this.#listen(socket, heard)).on('error', () => {});
  }

  /** Without a socket (no rights, or its name is too long) a process hears nothing: it still asks by itself. */
  static async open(file: string, clock: Clock, heard: (message: Message) => void): Promise<OwnBell> {
    const directory = socketDirectory(file);
    const [made, name] = [socketName(clock.id()), socketName(clock.id())];
    const server = createServer().unref();
    try {
      makePrivate(directory);
      // In a cluster of Node a socket that is not exclusive listens in the primary, and outlives its process.
      const at = { path: resolve(directory, isPipe ? name : made), exclusive: true };
      await new Promise<void>((listening, failed) => {
        server.once('error', failed).listen(at, listening);
      });
      server.removeAllListeners('error');
      // Node removes the name it made when the process ends, and then nobody could tell that it is dead. So the name is changed.
      if (!isPipe) renameSync(at.path, resolve(directory, name));
      return new OwnBell(directory, isBeside(directory, file) ? name : resolve(directory, name), server, heard);
    } catch {
      server.close();
      return new OwnBell(directory, '', undefined, heard);
    }
  }

  /** The name is removed first, so that this process is not taken for dead: claims that it could not release expire. */
  close(): void {
    if (this.#server) removeSocket(resolve(this.directory, this.name));
    this.#server?.close();
    for (const caller of this.#callers) caller.destroy();
  }

  #listen(caller: Socket, heard: (message: Message) => void): void {
    this.#callers.add(caller);
    let text = '';
    caller
      .unref()
      .setEncoding('utf8')
      .on('error', () => {})
      .once('close', () => this.#callers.delete(caller))
      .on('data', (chunk: string) => {
        const lines = (text + chunk).split('\n');
        text = lines.pop()!;
        if (text.length > LONGEST_MESSAGE) caller.destroy();
        for (const line of lines) {
          const message = read(line);
          if (message) heard(message);
          else caller.destroy();
        }
      });
  }
}

function read(line: string): Message | undefined {
  try {
    const { id, token } = JSON.parse(line) as Partial<Message>;
    if (typeof id === 'string' && Number.isSafeInteger(token)) return { id, token: token! };
  } catch {} // it is not our message
  return undefined;
}
