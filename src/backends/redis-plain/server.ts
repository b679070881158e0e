import type { Clock } from '../../core/index.ts';
import { meaning } from '../redis/errors.ts';
import type { Port } from '../redis/port.ts';
import { KeyedServer } from '../redis/server.ts';
import type { Naming } from './options.ts';
import type { Script } from './scripts.generated.ts';

/** The server, or the servers of a Cluster, with the names that locks have there. */
export class PlainServer extends KeyedServer {
  readonly name: string;
  readonly naming: Naming;

  /** @param name what messages call the engine */
  constructor(name: string, port: Port, naming: Naming, clock: Clock) {
    super(port, clock);
    this.name = name;
    this.naming = naming;
  }

  keyOf(name: string): string {
    return this.naming.keyOf(name);
  }

  /** Runs a script, and says what an error means. @param name of the lock that it is about, if it is about one */
  async ask(act: string, script: Script, keys: string[], args: string[], name?: string): Promise<unknown> {
    try {
      return await this.run(script, keys, args);
    } catch (error) {
      throw meaning(error, act, name, this.name);
    }
  }
}
