import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HOST } from './net.ts';

/** The flag by which a JVM listens for `breakAt`, on loopback. */
export const listenForDebugger = (port: number): string =>
  `-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=${HOST}:${port}`;

/** Threads that stand at a method; they go on when this is disposed of. */
export interface Break extends AsyncDisposable {
  /** Settles when the first one stands there. */
  readonly reached: Promise<void>;
}

const HANDSHAKE = 'JDWP-Handshake';
const HEADER = 11;
const REPLY = 0x80;
const BREAKPOINT = 2;

/**
 * Stops every thread of a JVM that enters the method, and no other thread, by the Java Debug Wire Protocol
 * (https://docs.oracle.com/en/java/javase/17/docs/specs/jdwp/jdwp-protocol.html): a moment between two threads of a server, which no
 * proxy can hold on to, lasts as long as a test wants.
 */
export async function breakAt(port: number, className: string, method: string): Promise<Break> {
  const debuggee = await Debuggee.open(port);
  const type = await debuggee.typeOf(`L${className.replaceAll('.', '/')};`);
  await debuggee.breakAt(type, await debuggee.methodOf(type, method));
  return debuggee;
}

class Debuggee implements Break {
  readonly reached: Promise<void>;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (data: Buffer) => void>();
  #reach!: () => void;
  #rest: Buffer = Buffer.alloc(0);
  #last = 0;

  static async open(port: number): Promise<Debuggee> {
    const socket = connect(port, HOST);
    await once(socket, 'connect');
    socket.write(HANDSHAKE);
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    if (greeting.toString() !== HANDSHAKE) throw new Error(`port ${port} answers ${greeting}; is this a JVM?`);
    return new Debuggee(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    socket.on('data', (chunk: Buffer) => this.#receive(chunk)).on('error', () => {});
  }

  async typeOf(signature: string): Promise<bigint> {
    const found = await this.#ask(1, 2, text(signature));
    if (found.readInt32BE(0) !== 1) throw new Error(`the JVM has not loaded ${signature}`);
    return found.readBigInt64BE(5);
  }

  async methodOf(type: bigint, name: string): Promise<bigint> {
    const methods = await this.#ask(2, 5, long(type));
    const at = methods.indexOf(text(name));
    if (at < 0) throw new Error(`the class has no method ${name}`);
    return methods.readBigInt64BE(at - 8);
  }

  /** Only the thread that comes there is stopped; the first instruction of the method. */
  async breakAt(type: bigint, method: bigint): Promise<void> {
    const location = [Buffer.of(7, 1), long(type), long(method), long(0n)];
    await this.#ask(15, 1, Buffer.concat([Buffer.of(BREAKPOINT, 1, 0, 0, 0, 1), ...location]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ask(1, 6, Buffer.alloc(0)); // the JVM forgets the breakpoint and lets all threads go on
    this.#socket.destroy();
  }

  #ask(set: number, command: number, data: Buffer): Promise<Buffer> {
    const header = Buffer.alloc(HEADER);
    header.writeInt32BE(HEADER + data.length, 0);
    header.writeInt32BE(++this.#last, 4);
    header.writeUInt8(set, 9);
    header.writeUInt8(command, 10);
    this.#socket.write(Buffer.concat([header, data]));
    return new Promise((resolve) => this.#waiting.set(this.#last, resolve));
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= HEADER && this.#rest.length >= this.#rest.readInt32BE(0)) {
      const packet = this.#rest.subarray(0, this.#rest.readInt32BE(0));
      this.#rest = this.#rest.subarray(packet.length);
      // A reply, or an event: a policy, a count, and of the first event the kind.
      if (packet[8] === REPLY) this.#waiting.get(packet.readInt32BE(4))?.(packet.subarray(HEADER));
      else if (packet[HEADER + 5] === BREAKPOINT) this.#reach();
    }
  }
}

function text(value: string): Buffer {
  const bytes = Buffer.from(`0000${value}`);
  bytes.writeInt32BE(value.length, 0);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
