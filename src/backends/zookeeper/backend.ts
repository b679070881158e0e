import {
  type Attempt,
  type Backend,
  CALL_TIMEOUT_MS,
  type Claim,
  type Finding,
  type Handle,
  type Hints,
  KeyedSerializer,
  type Listing,
  LockError,
  MAX_DURATION_MS,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { RepeatedWatch, together } from '../shared/repeated-watch.ts';
import { entriesOf } from '../shared/stored-queue.ts';
import { CONSENSUS_TRAITS } from '../shared/traits.ts';
import { Admissions } from './admissions.ts';
import { check } from './check.ts';
import { decodeKey, sortedQueue } from './names.ts';
import { type Ask, caughtUp, hintsIn, list, listNow, read, removeNode, watchChildren } from './nodes.ts';
import { type Settings, settingsOf, type ZookeeperOptions } from './options.ts';
import { OwnNodes } from './own-nodes.ts';
import { ZookeeperValues } from './values.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { translateError } from './wire/errors.ts';
import { sync } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';
import { ZooKeeperSession } from './wire/session.ts';

/** How many nodes a listing reads at once: enough to keep the connection busy, too few to delay other requests. */
const MAX_BATCH = 256;

/**
 * Locks on ZooKeeper: ephemeral sequential nodes in the layout of Curator's recipes, in a session of its own. The first call
 * opens the session, which reconnects by itself.
 * @throws LockError `LOCK_INVALID` for a bad option.
 * @example const locks = createLocks(zookeeper({ servers: 'zk1:2181,zk2:2181,zk3:2181' }));
 */
export function zookeeper(options: ZookeeperOptions): Backend {
  return new Zookeeper(settingsOf(options));
}

class Zookeeper implements Backend {
  readonly name = 'zookeeper';
  readonly traits: Traits;
  readonly hints: Hints;
  readonly values: ZookeeperValues;
  /** Sets no watch itself: after this call core sends a renewal, which watches the node of the hold. The end of the node aborts `lost` of the grant. */
  readonly watchHold = async (): Promise<AsyncDisposable> => together();
  readonly #settings: Settings;
  readonly #session: ZooKeeperSession;
  readonly #own: OwnNodes;
  readonly #admissions: Admissions;
  readonly #turns = new KeyedSerializer();
  readonly #ask: Ask = async (what, ask, within = CALL_TIMEOUT_MS) => {
    const began = this.#settings.clock.now();
    try {
      return await ask(await this.#session.connection(within), began);
    } catch (error) {
      throw translateError(error, what);
    }
  };

  constructor(settings: Settings) {
    const { timeout, clock, root, acl } = settings;
    this.#settings = settings;
    this.#own = new OwnNodes(root, acl);
    this.#admissions = new Admissions(this.#own, clock);
    this.hints = hintsIn(settings, this.#ask);
    this.values = new ZookeeperValues(settings, this.#own, this.#ask);
    this.#session = new ZooKeeperSession(settings, {
      onConnection: (connection) => this.#resume(connection),
      onExpiry: (session) => this.#own.expired(session),
      doubtful: (session) => this.#own.doubtful(session),
    });
    this.traits = {
      ...CONSENSUS_TRAITS,
      expires: false,
      lifetime: 'session',
      sessionGrace: timeout,
      // On the servers a hold lives as long as its session. So no ttl may be shorter than the session timeout that is asked for; `check` warns of a longer one.
      ttl: { min: timeout, max: MAX_DURATION_MS },
    };
  }

  async attempt(claim: Claim): Promise<Attempt> {
    if (claim.minToken !== undefined) {
      const message = 'ZooKeeper numbers its tokens itself: it cannot serve in a quorum that raises them';
      throw new LockError('LOCK_UNSUPPORTED', message, { key: claim.key, backend: this.name });
    }
    return this.#turns.take(claim.id, () => {
      const isFirst = this.#own.begin(claim);
      const ask = (connection: ZooKeeperConnection, began: number): Promise<Attempt> => {
        const attempt = (): Promise<Attempt> => this.#admissions.attempt(connection, claim, began);
        return this.#admissions.whole(connection, claim, () => this.values.ask(connection, claim, began, attempt));
      };
      return this.#ask(`queue for ${JSON.stringify(claim.key)}`, ask, claim.within).catch((error) => {
        if (isFirst && error instanceof LockError) this.#own.endUnsent(claim); // core releases it only after an earlier attempt
        throw error;
      });
    });
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const began = this.#settings.clock.now();
    const connection = await this.#session.connection(CALL_TIMEOUT_MS);
    // The answer proves that the session is alive. Watch events come before the answer: if the watch of a node has not fired by then, the node exists.
    await connection.request(sync);
    const renewed = (claim: Claim): Promise<Renewal> => this.#admissions.renew(connection, claim, began);
    return Promise.all(claims.map((claim) => renewed(claim).catch((): Renewal => 'unknown')));
  }

  release(handle: Handle): Promise<Release> {
    return this.#turns.take(handle.id, async () => {
      if (this.#own.endUnsent(handle)) return { freed: false };
      this.#own.giveUp(handle);
      return { freed: await this.#ask(`leave ${JSON.stringify(handle.key)}`, (zk) => this.#own.leave(zk, handle)) };
    });
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    const what = `keep a value under ${JSON.stringify(handle.key)}`;
    return this.#turns.take(handle.id, () => this.#ask(what, (zk) => this.values.store(zk, handle, value)));
  }

  /** Notifies next permits, and removes the nodes of claims that were given up: the session keeps these nodes, and no caller asks for them. */
  #resume(connection: ZooKeeperConnection): void {
    for (const place of this.#own.places.values()) this.#admissions.relay(connection, place).catch(() => {});
    for (const handle of this.#own.leaving.values()) {
      // If the claim has stood again meanwhile, its late node is gone, and this would remove the new one.
      const leave = async () => this.#own.leaving.has(handle.id) && this.#own.leave(connection, handle);
      this.#turns.take(handle.id, leave).catch((error) => {
        // After a definite refusal this process may not remove the node. After another error the next connection removes it.
        if (translateError(error, 'leave') instanceof LockError) this.#own.forgive(handle.id);
      });
    }
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const set = async (notify: Watcher) => {
      const grant = await this.#admissions.look(await this.#session.connection(CALL_TIMEOUT_MS), claim, notify);
      if (grant) wake(grant);
      return grant ? undefined : () => {}; // a watcher that is over (`Watcher.isOver`) is forgotten later
    };
    const turn = new RepeatedWatch(set, wake, this.#settings.clock);
    const value = claim.accepts && this.values.listen(claim, wake);
    await Promise.all([turn.arm(), value?.arm()]);
    return together(turn, value);
  }

  async *inspect(prefix: string, { exact = false, progress }: Listing = {}): AsyncIterable<QueueEntry> {
    try {
      const connection = await this.#session.connection(CALL_TIMEOUT_MS);
      if (exact) {
        await caughtUp(connection, this.#own.parent(prefix));
        return yield* entriesOn(connection, prefix, this.#own.parent(prefix));
      }
      for (const [looked, segment] of [...(await listNow(connection, this.#settings.root)).names].sort().entries()) {
        const key = decodeKey(segment);
        if (!key?.startsWith(prefix)) continue;
        yield* entriesOn(connection, key, `${this.#settings.root}/${segment}`);
        progress?.(looked + 1);
      }
    } catch (error) {
      throw translateError(error, 'list the locks');
    }
  }

  changed(key: string, notify: () => void): Promise<AsyncDisposable> {
    return this.#ask(`watch ${JSON.stringify(key)}`, (zk) => watchChildren(zk, this.#own.parent(key), notify));
  }

  evict(key: string, token: bigint): Promise<boolean> {
    return this.#ask(`evict from ${JSON.stringify(key)}`, (zk) => evict(zk, this.#own.parent(key), token));
  }

  check(): Promise<Finding[]> {
    return this.#ask('be examined', (connection) => check(connection, this.#session.timeout, this.#settings));
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** Lists all claims of a key, also claims of Curator's clients. */
async function* entriesOn(connection: ZooKeeperConnection, key: string, parent: string): AsyncIterable<QueueEntry> {
  const unread = { token: 0n, label: '', remaining: Number.POSITIVE_INFINITY };
  const queue = sortedQueue((await list(connection, parent)).names).map((claim) => ({ ...claim, ...unread }));
  const entries = entriesOf(key, queue);
  for (let from = 0; from < queue.length; from += MAX_BATCH) {
    const batch = queue.slice(from, from + MAX_BATCH);
    const nodes = await Promise.all(batch.map(({ name }) => read(connection, `${parent}/${name}`)));
    for (const [at, node] of nodes.entries()) {
      if (!node) continue; // the claim has left meanwhile
      yield { ...entries[from + at]!, token: node.stat.czxid, label: node.data.toString('utf8') };
    }
  }
}

async function evict(connection: ZooKeeperConnection, parent: string, token: bigint): Promise<boolean> {
  // Tokens grow along the queue, so the search ends early.
  for (const { name } of sortedQueue((await listNow(connection, parent)).names)) {
    const path = `${parent}/${name}`;
    const node = await read(connection, path);
    if (node && node.stat.czxid >= token) return node.stat.czxid === token && removeNode(connection, path);
  }
  return false;
}
