import { type Clock, invalid, quoted, shown } from '../../core/index.ts';
import { meaning } from '../redis/errors.ts';
import type { Port } from '../redis/port.ts';
import type { Script } from '../redis/scripts.generated.ts';
import { KeyedServer } from '../redis/server.ts';

/** One call of a script. */
export interface Command {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** The server, or the servers of a Cluster, with the names that locks have there. */
export class ForeignServer extends KeyedServer {
  readonly name: string;
  readonly naming: ForeignNaming;

  /** @param name what messages call the engine */
  constructor(name: string, port: Port, naming: ForeignNaming, clock: Clock) {
    super(port, clock);
    this.name = name;
    this.naming = naming;
  }

  keyOf(name: string): string {
    return this.naming.keyOf(name);
  }

  /** Runs a script, and says what an error means. @param name the lock, if the script is about one lock */
  async ask(act: string, { script, keys, args }: Command, name?: string): Promise<unknown> {
    try {
      return await this.run(script, keys, args);
    } catch (error) {
      throw meaning(error, act, name, this.name);
    }
  }
}

/** How other programs name locks. */
export interface ForeignNaming {
  /** Gives the Redis key of a lock. */
  keyOf(name: string): string;
  /** For names that begin with `start`: gives the texts that their keys have before and after the rest of the name. Undefined if keys do not show names. */
  around(start: string): { readonly before: string; readonly after: string } | undefined;
}

/**
 * @param key the option `key`; by default a key is the name itself
 * @throws LockError `LOCK_INVALID`
 */
export function namingOf(key: (name: string) => string = (name) => name): ForeignNaming {
  if (typeof key !== 'function')
    throw invalid(`key is ${shown(key)}; it must be a function from the name of a lock to its Redis key`);
  const keyOf = (name: string): string => {
    const found: unknown = key(name);
    if (typeof found === 'string' && found !== '' && found.isWellFormed()) return found;
    throw invalid(`key() gave ${shown(found)} for ${quoted(name)}; it must be well-formed text`, name);
  };
  const around: ForeignNaming['around'] = (start) => {
    const [before, after, more] = keyOf(start + PROBE).split(PROBE);
    return before !== undefined && after !== undefined && more === undefined ? { before, after } : undefined;
  };
  around(''); // a function that gives no text is refused now
  return { keyOf, around };
}

/** A made-up name. Its key shows what `key` puts before and after a name. */
const PROBE = 'holdfast-8f2c51';
