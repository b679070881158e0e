/**
 * A stub of a MongoDB server: it speaks the wire protocol (OP_MSG, and OP_QUERY for the driver's first hello), so that the
 * real driver connects to it, and answers whatever a test tells it to. It knows nothing of writes, elections or indexes:
 * what passes here shows what we send and how we take answers, and nothing about a MongoDB.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import { HOST } from './net.ts';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER = 16;

/** What to answer to a command: a reply, or nothing at all. */
export type Handler = (command: Document, name: string) => Document | undefined | Promise<Document | undefined>;

export class MongoStub implements AsyncDisposable {
  /** Commands received, without those the driver sends on its own. */
  readonly commands: Document[] = [];
  handler: Handler;
  /** What it says of itself beside what the driver needs to know. */
  hello: Document = {};
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(handler: Handler) {
    this.handler = handler;
    this.#listener = createServer((socket) => this.#serve(socket));
  }

  static async start(handler: Handler): Promise<MongoStub> {
    const stub = new MongoStub(handler);
    stub.#listener.listen(0, HOST);
    await once(stub.#listener, 'listening');
    return stub;
  }

  get port(): number {
    return (this.#listener.address() as { port: number }).port;
  }

  get url(): string {
    return `mongodb://${HOST}:${this.port}/?directConnection=true&retryWrites=false`;
  }

  /** Resets all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= HEADER && pending.length >= pending.readInt32LE(0)) {
        const length = pending.readInt32LE(0);
        void this.#answer(socket, pending.subarray(0, length));
        pending = pending.subarray(length);
      }
    });
  }

  async #answer(socket: Socket, message: Buffer): Promise<void> {
    const legacy = message.readInt32LE(12) === OP_QUERY;
    // Before the document: flags, a name that ends in NUL and two numbers; or flags and a byte for the kind of section.
    const start = legacy ? message.indexOf(0, HEADER + 4) + 9 : HEADER + 5;
    const command = BSON.deserialize(message.subarray(start));
    const reply = await this.#reply(command);
    if (!reply || socket.destroyed) return;
    const body = BSON.serialize({ ok: 1, ...reply });
    const head = Buffer.alloc(legacy ? HEADER + 20 : HEADER + 5);
    head.writeInt32LE(head.length + body.length, 0);
    head.writeInt32LE(message.readInt32LE(4), 8);
    head.writeInt32LE(legacy ? OP_REPLY : OP_MSG, 12);
    if (legacy) head.writeInt32LE(1, HEADER + 16);
    socket.write(Buffer.concat([head, body]));
  }

  #reply(command: Document): ReturnType<Handler> {
    const name = Object.keys(command)[0]!;
    if (/^(hello|ismaster)$/i.test(name)) return { ...HELLO, ...this.hello };
    if (name === 'endSessions' || name === 'ping') return {};
    this.commands.push(command);
    return this.handler(command, name);
  }
}

const HELLO = { ismaster: true, helloOk: true, maxBsonObjectSize: 16_777_216, minWireVersion: 0, maxWireVersion: 21 };
