import { createSocket, type Socket } from 'node:dgram';
import { connect, createServer } from 'node:net';

export const HOST = '127.0.0.1';

/**
 * Below the range that outgoing connections take their ports from (32768 and up on Linux): a server that is down for a
 * moment keeps its port, and a client cannot connect to itself. Each process begins at a place of its own.
 */
const FIRST = 10_000;
const PORTS = 22_000;
let next = (process.pid * 40) % PORTS;

/** The sockets that keep ports for this process: see `reserve`. */
const kept = new Map<number, Socket>();

/** `count` ports on loopback that no process listens on, and that no other process is given until `giveBack` or this one ends. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried > PORTS) throw new Error(`no ${count} free ports on ${HOST} between ${FIRST} and ${FIRST + PORTS}`);
    const port = FIRST + next;
    next = (next + 1) % PORTS;
    if (await take(port)) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}

/** Lets other processes have the port. A suite opens thousands of proxies: without this, one process runs into another's ports. */
export function giveBack(port: number): void {
  kept.get(port)?.close();
  kept.delete(port);
}

/**
 * Whether this process has the port now, until it ends: no process listens on it, and none was given it. Reserved before it is
 * looked at: a look listens for a moment, and must not be in the way of a process that has the port and opens it just then.
 */
export async function take(port: number): Promise<boolean> {
  if (!(await reserve(port))) return false;
  if (await isFree(port)) return true;
  giveBack(port);
  return false;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: HOST, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A port looks free to other processes while a server is only starting on it, or is down. So this process takes the UDP port of
 * the same number, which no server here uses, until it ends: the system gives that to one process at a time.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: HOST, exclusive: true }, () => {
      socket.unref();
      kept.set(port, socket);
      resolve(true);
    });
  });
}

/** Sends bytes on a new connection and returns what comes back until `enough`, the peer's end, or `within` ms. */
export function exchange(
  port: number,
  request: string | Uint8Array,
  enough: (reply: string) => boolean = () => false,
  within = 1_000,
  host = HOST,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    let reply = '';
    socket.setEncoding('latin1');
    socket.setTimeout(within, () => socket.destroy(new Error(`port ${port} did not answer in ${within} ms`)));
    socket.once('error', reject);
    socket.once('connect', () => socket.write(request));
    socket.on('data', (text) => {
      reply += text;
      if (enough(reply)) socket.destroy();
    });
    socket.once('close', () => resolve(reply));
  });
}
