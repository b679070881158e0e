/** Every way to see to it that one driver gets the order, and two that do not. */
import { memory } from '../../src/backends/memory.ts';
import { connect } from '../../src/connect/index.ts';
import { openBackend } from '../../src/connect/open.ts';
import { type Backend, createLocks, type Locks } from '../../src/index.ts';
import { changeRow, lockRow, STALE } from '../../src/transaction/index.ts';
import { note } from '../rush/notes.ts';
import type { Database, DatabaseServer } from './database.ts';
import { giveTo, grab, promise, readOrder, signal, WAIT } from './orders.ts';
import { withDecorators } from './with-decorators.ts';

/** Whether this driver has the order. */
export type Grab = (order: number, driver: string) => Promise<boolean>;

/** What a strategy locks on, beside the database; `url`: what the user names. */
export type Need = 'redis' | 'sentinel' | 'redlock' | 'etcd' | 'zookeeper' | 'file' | 'url';

export interface Opened {
  readonly grab: Grab;
  close?(): Promise<void>;
}

export interface Strategy {
  readonly name: string;
  readonly words: string;
  readonly needs?: Need;
  /** It is the database that locks, and so that has to be a server. */
  readonly inDatabase?: boolean;
  /** It is shown to see it go wrong. */
  readonly unsafe?: boolean;
  /** @param url of what it needs */
  open(database: Database, url: string): Promise<Opened>;
}

const under = (database: Database, locks: Locks) => ({
  grab: (order: number, driver: string) =>
    locks.mutex(`order:${order}`).run(
      ({ token }) => {
        note(driver, 'enters', { thing: order, token: `${token}` });
        return grab(database, order, driver);
      },
      { wait: WAIT },
    ),
  close: () => locks.close(),
});

/** By URL, as a service would do it. */
const connected = (name: string, words: string, needs: Need): Strategy => ({
  name,
  words,
  needs,
  open: async (database, url) => under(database, await connect(url)),
});

const inDatabase = (
  name: string,
  words: string,
  open: (database: DatabaseServer, url: string) => ReturnType<Strategy['open']>,
): Strategy => ({
  name,
  words,
  inDatabase: true,
  open: (database, url) => open(database as DatabaseServer, url),
});

/** Without the wake-up of the engine: waiters have to ask again and again. */
function polled(backend: Backend): Backend {
  return {
    name: backend.name,
    traits: { ...backend.traits, wakes: 'never' },
    attempt: (claim) => backend.attempt(claim),
    renew: (claims) => backend.renew(claims),
    release: (handle, next) => backend.release(handle, next),
    close: () => backend.close(),
  };
}

const asking = (name: string, words: string, needs: Need): Strategy => ({
  name,
  words,
  needs,
  open: async (database, url) => under(database, createLocks(polled(await openBackend(url)))),
});

export const STRATEGIES: readonly Strategy[] = [
  {
    name: 'none',
    words: 'no lock at all',
    unsafe: true,
    open: async (database) => ({ grab: (order, driver) => grab(database, order, driver) }),
  },
  {
    name: 'in-process',
    words: 'a lock inside each process',
    unsafe: true,
    open: async (database) => under(database, createLocks(memory())),
  },
  inDatabase('sql', "a lease in a row of the service's database", async (database, url) =>
    under(database, await connect(url)),
  ),
  inDatabase('sql-named', "the database's own named locks", async (database) =>
    under(database, createLocks(database.namedLocks())),
  ),
  inDatabase('for-update', "the order's row is locked (SELECT … FOR UPDATE)", async (database) => ({
    grab: (id, driver) =>
      database.transaction(async (query) => {
        const { dialect } = database;
        const row = await lockRow(query, { dialect, table: 'orders', where: { id }, wait: WAIT });
        if (!row || row.driver !== null) return false;
        await signal.checkPrice();
        await giveTo(database, id, driver, query);
        await promise(database, id, driver, query);
        return true;
      }),
  })),
  inDatabase('optimistic', 'a version in the row: whoever comes second is told so', async (database) => ({
    async grab(id, driver) {
      const order = await readOrder(database, id, driver);
      if (!order || order.driver !== null) return false;
      await signal.checkPrice();
      return database.transaction(async (query) => {
        const { dialect } = database;
        const { version } = order;
        const changed = await changeRow(query, { dialect, table: 'orders', where: { id }, version, set: { driver } });
        if (changed === STALE) return false;
        await promise(database, id, driver, query);
        return true;
      });
    },
  })),
  connected('redis', 'Redis, waiters are woken', 'redis'),
  asking('redis-spin', 'Redis, waiters ask again and again', 'redis'),
  connected('sentinel', 'Redis with Sentinel', 'sentinel'),
  connected('redlock', 'Redlock over three Redis', 'redlock'),
  connected('etcd', 'etcd', 'etcd'),
  connected('zookeeper', 'ZooKeeper', 'zookeeper'),
  connected('file', 'a file on this machine', 'file'),
  connected('url', 'the engine that --url names', 'url'),
  asking('url-spin', 'the same, waiters ask again and again', 'url'),
  {
    name: 'decorator',
    words: '@Locked on the method of a class, Redis behind it',
    needs: 'redis',
    async open(database, url) {
      const { Orders } = await withDecorators<typeof import('./decorated.ts')>(
        new URL('./decorated.ts', import.meta.url),
      );
      const locks = await connect(url);
      const orders = new Orders(database, locks);
      return { grab: (order, driver) => orders.grab(order, driver), close: () => locks.close() };
    },
  },
];
