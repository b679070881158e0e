import { type EtcdOptions, open } from '../backends/etcd/options.ts';
import type { Client } from '../backends/etcd/wire/client.ts';
import { get, ifUnchanged, type Op, put } from '../backends/etcd/wire/messages.ts';
import { checkKey, invalid, isLockError, LockError, shown } from '../core/index.ts';
import { checkToken, type Fence, fencedError } from './fence.ts';

/** A key of yours, and its new value. */
export interface EtcdPut {
  /** The whole key, without a prefix. Not empty. */
  readonly key: string;
  /** The new value. */
  readonly value: string | Uint8Array;
}

/** A guard for something kept in etcd. */
export interface EtcdFence extends Fence, AsyncDisposable {
  /**
   * Claims the token and puts in one step, so that no stale write comes between them.
   * @param puts at most 127, each of another key
   * @throws LockError `LOCK_FENCED` when a newer token was seen; then nothing was put. `LOCK_UNAVAILABLE` when etcd refused or did not
   * answer; without an answer nobody knows whether the puts were made
   * @example
   * await using fence = etcdFence({ endpoints: ['127.0.0.1:2379'] }, 'config');
   * await locks.mutex('config').run((lease) => fence.write(lease.token, [{ key: 'config/limit', value: '10' }]));
   */
  write(token: bigint, puts: readonly EtcdPut[]): Promise<void>;
  /**
   * Ends the connection of the guard.
   * @example await using fence = etcdFence({ endpoints: ['127.0.0.1:2379'] }, 'config'); // the end of the block does the same as fence.close()
   */
  close(): Promise<void>;
}

/** By default etcd takes 128 operations in a transaction (`--max-txn-ops`). One of them is for the mark. */
const MAX_PUTS = 127;

/**
 * A guard for something kept in etcd. Its mark, the highest token, is at `<prefix>/fence:<resource>`, percent-encoded, without a lease: if
 * the mark expired, stale writes would be possible again. No lock has this key, since the keys of locks encode a colon.
 * @param options as for `etcd()`. The guard has its own connection; `close` ends it
 * @throws LockError `LOCK_INVALID`
 * @example
 * const fence = etcdFence({ endpoints: ['127.0.0.1:2379'] }, 'config');
 * await fence.claim(7n); // 6n is refused from now on: LOCK_FENCED
 * await fence.close();
 */
export function etcdFence(options: EtcdOptions, resource: string): EtcdFence {
  const name = encodeURIComponent(checkKey(resource));
  const { client, prefix } = open(options);
  return new Guard(client, Buffer.from(`${prefix}/fence:${name}`), resource);
}

class Guard implements EtcdFence {
  readonly #client: Client;
  readonly #mark: Buffer;
  readonly #resource: string;
  /** The mark as last read or written. etcd compares its revision, so the next write of the same holder needs only one call. */
  #last = { newest: 0n, modRevision: 0n };

  constructor(client: Client, mark: Buffer, resource: string) {
    this.#client = client;
    this.#mark = mark;
    this.#resource = resource;
  }

  claim(token: bigint): Promise<void> {
    return this.write(token, []);
  }

  async write(token: bigint, puts: readonly EtcdPut[]): Promise<void> {
    checkToken(token);
    const ops = checkPuts(puts, this.#mark);
    try {
      await this.#raise(token, ops);
    } catch (error) {
      if (isLockError(error)) throw error;
      const message = `etcd gave no usable answer to token ${token} for ${this.#resource}: what was to be put may be there, or not. Claim again, and look`;
      throw new LockError('LOCK_UNAVAILABLE', message, { backend: 'etcd', cause: error });
    }
  }

  /** An attempt fails only if the mark has grown meanwhile. So the loop ends, at the latest when the mark is above the token. */
  async #raise(token: bigint, puts: readonly Op[]): Promise<void> {
    for (let last = this.#last; ; last = this.#last) {
      if (token < last.newest) throw fencedError(this.#resource, token, last.newest);
      const raises = token > last.newest || last.modRevision === 0n;
      const answer = await this.#client.txn({
        compare: [ifUnchanged(this.#mark, last.modRevision)],
        success: raises ? [put(this.#mark, Buffer.from(String(token))), ...puts] : puts,
        failure: [get(this.#mark)],
      });
      if (answer.succeeded) {
        if (raises) this.#last = { newest: token, modRevision: answer.header!.revision };
        return;
      }
      const [mark] = answer.responses[0]!.range!.kvs;
      this.#last = { newest: BigInt(mark?.value.toString() ?? 0), modRevision: mark?.modRevision ?? 0n };
    }
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Checks the puts, since errors of etcd do not name the wrong put. */
function checkPuts(puts: readonly EtcdPut[], mark: Buffer): Op[] {
  if (puts.length > MAX_PUTS) throw invalid(`${puts.length} puts are too many for one step; at most ${MAX_PUTS}`);
  const keys = new Set(['', mark.toString()]);
  return puts.map(({ key, value }) => {
    if (typeof key !== 'string') throw invalid(`the key of a put must be a string, not ${shown(key)}`);
    if (keys.has(key)) throw invalid('a put must name a key, once, and not the mark of the guard itself', key);
    if (typeof value !== 'string' && !(value instanceof Uint8Array)) {
      throw invalid(`the value of a put must be a string or bytes, not ${shown(value)}`, key);
    }
    keys.add(key);
    return put(Buffer.from(key), typeof value === 'string' ? Buffer.from(value) : Buffer.from(value));
  });
}
