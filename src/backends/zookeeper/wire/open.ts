import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Clock } from '../../../core/contract/clock.ts';
import { Connection } from './connection.ts';
import { ConnectionLost } from './errors.ts';
import { Frames } from './frames.ts';
import type { Identity, Welcome } from './identity.ts';
import { Decoder, Encoder } from './jute.ts';
import { authenticate } from './operations.ts';
import type { Server } from './servers.ts';
import { openSocket } from './socket.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface SessionOptions {
  /** The session timeout to ask for, ms. */
  readonly timeout: number;
  readonly tls?: ConnectionOptions;
  readonly auth?: Credentials;
}

/** The session is over, and its nodes with it. */
export class SessionExpired extends Error {
  override readonly name = 'SessionExpired';
}

export interface OpenSession {
  readonly connection: Connection;
  readonly welcome: Welcome;
}

/**
 * Opens a connection, opens or resumes a session on it, and authenticates.
 * @param within limit of all this, ms
 * @param over ends the connection, now and later
 */
export async function open(
  server: Server,
  identity: Identity,
  lastZxid: bigint,
  { timeout, tls, auth }: SessionOptions,
  within: number,
  clock: Clock,
  over: AbortSignal,
): Promise<OpenSession> {
  const socket = await openSocket(server, tls, within, clock, over);
  const cancel = clock.after(within, () => socket.destroy(new ConnectionLost('the server is silent')));
  try {
    const frames = new Frames();
    const sent = clock.now();
    socket.write(hello(identity, timeout, lastZxid));
    const welcome = readWelcome(await firstFrame(socket, frames));
    if (!welcome) throw new SessionExpired('the session has expired');
    const connection = new Connection(socket, frames, welcome, sent, lastZxid, clock);
    if (auth) await connection.request(authenticate(auth.user, auth.password));
    return { connection, welcome };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    cancel();
  }
}

const PROTOCOL = 0;

/** Because of `lastZxid`, a server that has not yet seen what we have seen closes the connection. */
function hello({ id, password }: Identity, timeout: number, lastZxid: bigint): Buffer {
  const request = new Encoder().int(PROTOCOL).long(lastZxid).int(timeout).long(id).bytes(password);
  return request.bool(false).frame(); // a read-only server is of no use
}

/** @returns undefined when the session has expired */
function readWelcome(frame: Buffer): Welcome | undefined {
  const from = new Decoder(frame);
  const protocol = from.int();
  if (protocol !== PROTOCOL) throw new RangeError(`protocol ${protocol} was answered; is this ZooKeeper?`);
  const timeout = from.int();
  const id = from.long();
  const password = Uint8Array.from(from.bytes());
  return timeout > 0 && id !== 0n ? { id, password, timeout } : undefined;
}

/** The server sends nothing after its first frame until we ask for something. */
function firstFrame(socket: Socket, frames: Frames): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      socket.off('data', data).off('error', reject).off('close', onClose);
      act();
    };
    const data = (chunk: Buffer): void => {
      try {
        for (const frame of frames.take(chunk)) settle(() => resolve(frame));
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onClose = (): void => settle(() => reject(new ConnectionLost('the server closed the connection at once')));
    socket.on('data', data).on('error', reject).on('close', onClose);
  });
}
