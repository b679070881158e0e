import { type EtcdOptions, open } from '../backends/etcd/options.ts';
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
  const mark = Buffer.from(`${prefix}/fence:${name}`);
  /** The mark as last read or written. etcd compares its revision, so the next write of the same holder needs only one call. */
  let last = { newest: 0n, modRevision: 0n };

  /** An attempt fails only if the mark has grown meanwhile. So the loop ends, at the latest when the mark is above the token. */
  async function raise(token: bigint, puts: readonly Op[]): Promise<void> {
    for (;;) {
      const { newest, modRevision } = last;
      if (token < newest) throw fencedError(resource, token, newest);
      const raises = token > newest || modRevision === 0n;
      const answer = await client.txn({
        compare: [ifUnchanged(mark, modRevision)],
        success: raises ? [put(mark, Buffer.from(String(token))), ...puts] : puts,
        failure: [get(mark)],
      });
      if (answer.succeeded) {
        if (raises) last = { newest: token, modRevision: answer.header!.revision };
        return;
      }
      const [found] = answer.responses[0]!.range!.kvs;
      last = { newest: BigInt(found?.value.toString() ?? 0), modRevision: found?.modRevision ?? 0n };
    }
  }

  const write: EtcdFence['write'] = async (token, puts) => {
    checkToken(token);
    const ops = checkPuts(puts, mark);
    try {
      await raise(token, ops);
    } catch (error) {
      if (isLockError(error)) throw error;
      const message = `etcd gave no usable answer to token ${token} for ${resource}: what was to be put may be there, or not. Claim again, and look`;
      throw new LockError('LOCK_UNAVAILABLE', message, { backend: 'etcd', cause: error });
    }
  };
  const close = async (): Promise<void> => client.close();
  return { write, claim: (token) => write(token, []), close, [Symbol.asyncDispose]: close };
}

/** Checks the puts, since errors of etcd do not name the wrong put. */
function checkPuts(puts: readonly EtcdPut[], mark: Buffer): Op[] {
  if (puts.length > MAX_PUTS) throw invalid(`${puts.length} puts are too many for one step; at most ${MAX_PUTS}`);
  const keys = new Set(['', mark.toString()]);
  return puts.map(({ key, value }) => {
    if (typeof key !== 'string') throw invalid(`the key of a put must be a string, not ${shown(key)}`);
    if (keys.has(key)) throw invalid('a put must name a key, once, and not the mark of the guard itself', key);
    if (typeof value !== 'string' && !(value instanceof Uint8Array))
      throw invalid(`the value of a put must be a string or bytes, not ${shown(value)}`, key);
    keys.add(key);
    return put(Buffer.from(key), typeof value === 'string' ? Buffer.from(value) : Buffer.from(value));
  });
}
