import { join } from 'node:path';
import { connect } from '../../src/connect/index.ts';
import { redacted, urlOfFile } from '../../src/connect/url.ts';
import { temporaryFolder } from '../../test/kit/folder.ts';
import { Shops } from '../flash-sale/shops.ts';
import { openTill } from '../flash-sale/till.ts';
import { Fleet } from '../grab-order/fleet.ts';
import { createOrders } from '../grab-order/orders.ts';
import { openSqlite } from '../grab-order/sqlite.ts';
import { rushForOrders } from './orders.ts';
import { Holders } from './paused.ts';
import { type Round, type SceneName, type Side, STRATEGIES, type Wish } from './record.ts';
import { rushForUnits } from './sale.ts';

const PROCESSES = 3;

/** One side of a scene, with a strategy. */
type Rush = (strategy: string) => Promise<Side>;

/** The rounds of the page, one at a time. Processes start when they are needed, and stay. */
export class Rounds implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #folder = this.#stack.use(temporaryFolder());
  readonly #scenes = new Map<SceneName, Promise<Rush>>();
  readonly #locks: string;
  #last: Promise<unknown> = Promise.resolve();

  /** @param url of the engine; default: a file */
  constructor(url?: string) {
    this.#locks = url ?? urlOfFile(join(this.#folder.path, 'locks.db'));
  }

  /** A wrong address is told before any round. @throws LockError */
  async check(): Promise<void> {
    if (this.#locks.startsWith('memory:'))
      throw new Error('memory: is inside one process; name an engine that processes share');
    await (await connect(this.#locks)).close();
  }

  /** `file`, `redis`… */
  get engine(): string {
    return redacted(this.#locks).split(':')[0]!;
  }

  /** Who comes while another round runs waits for it. */
  play(wish: Wish): Promise<Round> {
    const round = this.#last.then(() => this.#play(wish));
    this.#last = round.catch(() => {});
    return round;
  }

  async #play({ scene, strategy }: Wish): Promise<Round> {
    const rush = await this.#rush(scene);
    const without = told(await rush('none'));
    const sides = { without, with: told(await rush(strategy)) };
    return { scene, engine: this.engine, processes: scene === 'paused' ? 2 : PROCESSES, ...sides };
  }

  #rush(scene: SceneName): Promise<Rush> {
    const known = this.#scenes.get(scene) ?? this.#open(scene);
    this.#scenes.set(scene, known);
    known.catch(() => this.#scenes.delete(scene));
    return known;
  }

  async #open(scene: SceneName): Promise<Rush> {
    const path = join(this.#folder.path, `${scene}.db`);
    const locks = this.#locks;
    if (scene === 'orders') {
      const database = openSqlite(path);
      this.#stack.defer(() => database.end());
      await createOrders(database);
      const fleet = this.#stack.use(await Fleet.start(PROCESSES));
      const urls = { database: `sqlite:${path}`, locks };
      return (strategy) => rushForOrders(fleet, database, urls, strategy, PROCESSES);
    }
    if (scene === 'sale') {
      const url = `sqlite:${path}`;
      const till = openTill(url);
      this.#stack.defer(() => till.end());
      const shops = this.#stack.use(await Shops.start(PROCESSES));
      return (strategy) => rushForUnits(shops, till, { till: url, locks }, strategy, PROCESSES);
    }
    const holders = this.#stack.use(await Holders.start(path, locks));
    return (strategy) => holders.rush(strategy !== 'none');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** The page draws what the processes noted; the table has the last word. */
function told(side: Side): Side {
  const noted = side.happenings.filter(({ what }) => what === 'writes').length;
  if (noted === side.written) return side;
  throw new Error(`the processes noted ${noted} writes, and the table has ${side.written}`);
}

export function isWish(value: unknown): value is Wish {
  const { scene, strategy } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof scene !== 'string' || typeof strategy !== 'string' || !Object.hasOwn(STRATEGIES, scene)) return false;
  return (STRATEGIES[scene as SceneName] as readonly string[]).includes(strategy);
}
