import { on } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type Clock, invalid, shown } from '../../../core/index.ts';
import { type NEW_SESSION, type Welcome, ZooKeeperConnection } from './connection.ts';
import { ConnectionLost } from './errors.ts';
import { bool, bytes, Draft, Frames, int, JuteFrame, long, record } from './jute.ts';
import { authenticate } from './operations.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface SessionSettings {
  readonly servers: readonly ServerAddress[];
  /** The session timeout to ask for, ms. */
  readonly timeout: number;
  readonly tls?: ConnectionOptions | undefined;
  readonly auth?: Credentials | undefined;
  readonly clock: Clock;
}

/** The session is over, and its nodes with it. */
export class SessionExpired extends Error {
  override readonly name = 'SessionExpired';
}

/**
 * Opens a connection, opens or resumes a session on it, and authenticates.
 * @param within the limit for all steps together, ms
 * @param over ends the connection, also after it was opened
 */
export async function open(
  server: ServerAddress,
  identity: typeof NEW_SESSION,
  lastZxid: bigint,
  { timeout, tls, auth, clock }: SessionSettings,
  within: number,
  over: AbortSignal,
): Promise<ZooKeeperConnection> {
  const socket = await openSocket(server, tls, within, clock, over);
  const cancel = clock.after(within, () => socket.destroy(new ConnectionLost('the server is silent')));
  try {
    const frames = new Frames();
    const sent = clock.now();
    socket.write(hello(identity, timeout, lastZxid));
    const welcome = readWelcome(await firstFrame(socket, frames));
    if (!welcome) throw new SessionExpired('the session has expired');
    const connection = new ZooKeeperConnection(socket, frames, welcome, sent, lastZxid, clock);
    if (auth) await connection.request(authenticate(auth.user, auth.password));
    return connection;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    cancel();
  }
}

const PROTOCOL = 0;
const HELLO = record({ protocol: int, lastZxid: long, timeout: int, id: long, password: bytes, isReadOnly: bool });
const WELCOME = record({ protocol: int, timeout: int, id: long, password: bytes });

/** A server that has not applied `lastZxid` yet closes the connection. A read-only server is of no use. */
function hello(identity: typeof NEW_SESSION, timeout: number, lastZxid: bigint): Buffer {
  const draft = new Draft();
  HELLO.write(draft, { ...identity, protocol: PROTOCOL, lastZxid, timeout, isReadOnly: false });
  return draft.frame();
}

/** @returns undefined when the session has expired */
function readWelcome(frame: Buffer): Welcome | undefined {
  const { protocol, timeout, id, password } = WELCOME.read(new JuteFrame(frame));
  if (protocol !== PROTOCOL) throw new RangeError(`protocol ${protocol} was answered; is this ZooKeeper?`);
  return timeout > 0 && id !== 0n ? { id, password: Uint8Array.from(password), timeout } : undefined;
}

/** The server sends nothing after its first frame until we ask for something. */
async function firstFrame(socket: Socket, frames: Frames): Promise<Buffer> {
  for await (const [chunk] of on(socket, 'data', { close: ['close'] })) {
    const [frame] = [...frames.take(chunk)]; // the generator runs to its end, so that `frames` keeps the bytes that follow
    if (frame) return frame;
  }
  throw new ConnectionLost('the server closed the connection at once');
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 2181;

/**
 * Reads a connect string: `h1:2181,h2,[::1]:2183`. A path (a chroot) is refused: use `prefix`.
 * @throws LockError `LOCK_INVALID`.
 */
export function parseServers(text: unknown): ServerAddress[] {
  if (typeof text !== 'string') throw invalid(`servers is ${shown(text)}; give 'host:port,host:port'`);
  return text.split(',').map((part) => {
    const match = /^\s*(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]@]+))(?::(\d{1,5}))?\s*$/.exec(part);
    const port = Number(match?.[3] ?? DEFAULT_PORT);
    const host = match?.[1] ?? match?.[2];
    if (!host || port < 1 || port > 65_535) throw invalid("servers is not of the form 'host:port,host:port'");
    return { host, port };
  });
}

/** The servers in a random order, again and again: so not every client uses the first server. */
export function* rotation(servers: readonly ServerAddress[], random: () => number): Generator<ServerAddress, never> {
  const order = [...servers];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  for (let at = 0; ; at = (at + 1) % order.length) yield order[at]!;
}

/**
 * Connects a socket, by TLS if `tls` is given. The socket has a listener for errors from the start.
 * @param over ends the socket, also after it was connected
 */
export function openSocket(
  { host, port }: ServerAddress,
  tls: ConnectionOptions | undefined,
  within: number,
  clock: Clock,
  over?: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Node warns if an address is given as a server name.
    const name = isIP(host) ? {} : { servername: host };
    const socket = tls ? connectTls({ ...name, ...tls, host, port }) : connectTcp({ host, port });
    const cancel = clock.after(within, () => socket.destroy(new ConnectionLost(`no connection within ${within} ms`)));
    const end = (): void => void socket.destroy(new ConnectionLost('closed'));
    over?.addEventListener('abort', end);
    socket.once('close', () => over?.removeEventListener('abort', end));
    socket.setNoDelay(true);
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      cancel();
      resolve(socket);
    });
    socket.on('error', (error) => {
      cancel();
      reject(error);
    });
  });
}
