import { Locked, lockedBy } from '../../src/decorator/index.ts';
import type { Locks } from '../../src/index.ts';
import type { Database } from './database.ts';
import { grab, WAIT } from './orders.ts';

/** A service whose methods say what they lock, and nothing about how. */
export class Orders {
  readonly #database: Database;
  readonly #locks: Locks;

  constructor(database: Database, locks: Locks) {
    this.#database = database;
    this.#locks = locks;
  }

  get [lockedBy](): Locks {
    return this.#locks;
  }

  @Locked('order:{order}', { wait: WAIT })
  grab(order: number, driver: string): Promise<boolean> {
    return grab(this.#database, order, driver);
  }
}
