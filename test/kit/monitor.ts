import { Redis } from 'ioredis';
import { systemClock } from '../../src/core/contract/clock.ts';
import { HOST } from './net.ts';
import { until } from './wait.ts';

/** Hears of all commands that clients send to a Redis. Its own counts have those inside of scripts, too. */
export class Monitor implements Disposable {
  readonly #asker: Redis;
  readonly #listener: Redis;
  #commands: (readonly string[])[] = [];
  /** So many commands were heard. */
  count = 0;

  private constructor(asker: Redis, listener: Redis) {
    this.#asker = asker;
    this.#listener = listener;
    listener.on('monitor', (_time: string, command: string[], source: string) => {
      if (source === 'lua') return;
      this.#commands.push(command);
      this.count++;
    });
  }

  static async start(port: number): Promise<Monitor> {
    const asker = new Redis(port, HOST);
    return new Monitor(asker, await asker.monitor());
  }

  /** Tells the commands since the last time, each as its name and its arguments, except for pings: it sends one itself. */
  async commands(): Promise<(readonly string[])[]> {
    const mark = systemClock.id();
    await this.#asker.ping(mark);
    await until('the server tells of the mark', () => this.#commands.some(([, argument]) => argument === mark));
    const told = this.#commands;
    this.#commands = [];
    return told.filter(([name]) => !/^ping$/i.test(name!));
  }

  [Symbol.dispose](): void {
    this.#listener.disconnect();
    this.#asker.disconnect();
  }
}
