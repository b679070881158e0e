import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Notes,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/contract/backend.ts';
import { LONGEST } from '../../core/contract/duration.ts';
import { LockError } from '../../core/contract/errors.ts';
import { KeyedSerializer } from '../../core/contract/keyed-serializer.ts';
import { Admissions } from './admissions.ts';
import { check } from './check.ts';
import { explained } from './errors.ts';
import { census, evicted, lineAt } from './inspect.ts';
import { ZookeeperNotes } from './notes.ts';
import { type Settings, settingsOf, type ZookeeperOptions } from './options.ts';
import { Places } from './places.ts';
import { LineWatch, watchChildren } from './wake-ups.ts';
import type { Connection } from './wire/connection.ts';
import { sync } from './wire/operations.ts';
import { Session } from './wire/session.ts';
import type { Watcher } from './wire/watches.ts';

/** How long a call without a limit of its own waits for a connection. ms. */
const PATIENCE = 5_000;

/**
 * Locks on ZooKeeper: ephemeral sequential nodes in the layout of Curator's recipes, in a session of its own. It connects when it is
 * first asked, and reconnects by itself.
 * @throws LockError `LOCK_INVALID` for a bad option.
 * @example const locks = createLocks(zookeeper({ servers: 'zk1:2181,zk2:2181,zk3:2181' }));
 */
export function zookeeper(options: ZookeeperOptions): Backend {
  return new Zookeeper(settingsOf(options));
}

class Zookeeper implements Backend {
  readonly name = 'zookeeper';
  readonly traits: Traits;
  readonly notes: Notes;
  readonly #settings: Settings;
  readonly #session: Session;
  readonly #places: Places;
  readonly #admissions: Admissions;
  readonly #turns = new KeyedSerializer();

  constructor(settings: Settings) {
    const { servers, sessionTimeout: timeout, tls, auth, clock, root, acl } = settings;
    this.#settings = settings;
    this.#places = new Places(root, acl);
    this.#admissions = new Admissions(this.#places, clock);
    this.notes = new ZookeeperNotes(root, acl, (what, ask) => this.#asked(what, PATIENCE, ask));
    this.#session = new Session(servers, { timeout, tls, auth }, clock, {
      connected: (connection) => this.#clear(connection),
      expired: (session) => this.#places.expired(session),
      doubtful: (session) => this.#places.doubtful(session),
    });
    this.traits = {
      seats: 'counted',
      fair: true,
      fencing: 'always',
      spans: false,
      wakes: 'watch',
      lapses: false,
      keptBy: 'session',
      outlives: timeout,
      placeTtl: LONGEST_PLACE_TTL,
      // The servers only know the session, so all locks of a dead process are freed together.
      ttl: { min: timeout, max: LONGEST },
    };
  }

  async attempt(claim: Claim): Promise<Attempt> {
    if (claim.atLeast !== undefined) {
      const message = 'ZooKeeper numbers its tickets itself: it cannot serve in a quorum that raises them';
      throw new LockError('LOCK_UNSUPPORTED', message, { key: claim.key, backend: this.name });
    }
    return this.#turns.take(claim.id, () => {
      this.#places.begin(claim);
      return this.#asked(`queue for ${JSON.stringify(claim.key)}`, claim.within, (connection, began) =>
        this.#admissions.attempt(connection, claim, began),
      );
    });
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const began = this.#settings.clock.now();
    const connection = await this.#session.connection(PATIENCE);
    // The answer shows that the session is alive. All earlier events of our watches came before it, so a watched node is still there.
    await connection.request(sync);
    const renewed = (claim: Claim): Promise<Renewal> => this.#admissions.renew(connection, claim, began);
    return Promise.all(claims.map((claim) => renewed(claim).catch((): Renewal => 'unknown')));
  }

  release(handle: Handle): Promise<Release> {
    return this.#turns.take(handle.id, () => {
      if (this.#places.endUnsent(handle)) return Promise.resolve({ freed: false });
      this.#places.giveUp(handle);
      return this.#asked(`leave ${JSON.stringify(handle.key)}`, PATIENCE, async (connection) => ({
        freed: await this.#places.leave(connection, handle),
      }));
    });
  }

  /** Removes the nodes of claims that were given up. Nobody may ask for them any more, and the session still keeps them. */
  #clear(connection: Connection): void {
    for (const handle of this.#places.leaving) {
      const leave = (): Promise<unknown> => this.#places.leave(connection, handle);
      this.#turns.take(handle.id, leave).catch((error) => {
        // After a definite refusal the node is not ours to remove. After another error the next connection tries again.
        if (explained(error, 'leave') instanceof LockError) this.#places.forgive(handle.id);
      });
    }
  }

  async watch(claim: Claim, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    const look = async (tell: Watcher): Promise<boolean> => {
      const grant = await this.#admissions.look(await this.#session.connection(PATIENCE), claim, tell);
      if (grant) wake(grant);
      return !grant;
    };
    const watch = new LineWatch(look, wake, this.#settings.clock);
    await watch.arm();
    return watch;
  }

  async *inspect(prefix: string, { exact = false, progress }: Listing = {}): AsyncIterable<Standing> {
    try {
      const connection = await this.#session.connection(PATIENCE);
      if (exact) yield* lineAt(connection, prefix, this.#places.parent(prefix));
      else yield* census(connection, this.#settings.root, prefix, progress);
    } catch (error) {
      throw explained(error, 'list the locks');
    }
  }

  changed(key: string, tell: () => void): Promise<AsyncDisposable> {
    return this.#asked(`watch ${JSON.stringify(key)}`, PATIENCE, (connection) =>
      watchChildren(connection, this.#places.parent(key), tell),
    );
  }

  evict(key: string, ticket: bigint): Promise<boolean> {
    return this.#asked(`evict from ${JSON.stringify(key)}`, PATIENCE, (connection) =>
      evicted(connection, this.#places.parent(key), ticket),
    );
  }

  check(): Promise<Finding[]> {
    return this.#asked('be examined', PATIENCE, (connection) =>
      check(connection, this.#session.timeout, this.#settings),
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #asked<T>(
    what: string,
    within: number,
    ask: (connection: Connection, began: number) => Promise<T>,
  ): Promise<T> {
    const began = this.#settings.clock.now();
    try {
      return await ask(await this.#session.connection(within), began);
    } catch (error) {
      throw explained(error, what);
    }
  }
}
