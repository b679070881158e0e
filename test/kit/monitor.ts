import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { HOST } from '../test/kit/net.ts';
import { until } from '../test/kit/wait.ts';

/** A command of a client; what a script does has `lua` in the place of an address. */
const COMMAND = /^\+\d+\.\d+ \[\d+ [^l]/;
const MARK = /"PING" "(.*)"$/i;

/** Hears of all commands that clients send to a Redis. Its own counts have those inside of scripts, too. */
export class Monitor implements Disposable {
  readonly #socket: Socket;
  /** The commands since the last mark. */
  commands: string[] = [];
  #mark = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    createInterface(socket).on('line', (line) => {
      const mark = MARK.exec(line)?.[1];
      if (mark !== undefined) this.#mark = mark;
      else if (COMMAND.test(line)) this.commands.push(line);
    });
  }

  static async start(port: number): Promise<Monitor> {
    const socket = connect(port, HOST).unref();
    const monitor = new Monitor(socket);
    socket.write('MONITOR\r\n');
    await once(socket, 'data');
    return monitor;
  }

  /** The commands since the last mark. This mark is a command that comes behind them. */
  async until(mark: string): Promise<string[]> {
    this.#socket.write(`PING ${mark}\r\n`);
    await until(`the server tells of ${mark}`, () => this.#mark === mark);
    const { commands } = this;
    this.commands = [];
    return commands;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
