import { portOf, type RedisClient } from '../backends/redis/client.ts';
import { checkKey, checkNames, checkPrefix, namesOf } from '../core/index.ts';
import { checkToken, type Fence, fencedError } from './fence.ts';

/** Options of `redisFence`. */
export interface RedisFenceOptions {
  /** The first part of the key of the mark. Default `holdfast`. */
  readonly prefix?: string;
  /** The whole key of the mark. In a Cluster it must share a slot with the data of `write`. */
  readonly key?: string;
}

const KNOWN = namesOf<RedisFenceOptions>({ prefix: true, key: true });

/**
 * Runs before the caller's script. The mark is the last key and the token is the last argument. Both are removed, so that the script sees
 * only the caller's keys and arguments. Tokens are compared as texts of digits, since numbers of Lua are exact up to 2^53 only.
 */
const CLAIM = `
local mark, token = KEYS[#KEYS], ARGV[#ARGV]
KEYS[#KEYS], ARGV[#ARGV] = nil, nil
local newest = redis.call('GET', mark)
if newest and (#newest > #token or (#newest == #token and newest > token)) then
  return redis.error_reply('FENCED ' .. newest)
end
if newest ~= token then redis.call('SET', mark, token) end
`;

/** A guard for something kept in Redis. */
export interface RedisFence extends Fence {
  /**
   * Claims the token, and runs your Lua script in the same step, so that no stale write comes between them.
   * @param script sees `keys` as KEYS and `args` as ARGV
   * @throws LockError `LOCK_FENCED` when a newer token was seen; then the script has not run
   * @example
   * const fence = redisFence(client, 'stock');
   * await locks.mutex('stock').run((lease) => fence.write(lease.token, "redis.call('DECR', KEYS[1])", ['stock:phone']));
   */
  write(token: bigint, script: string, keys?: readonly string[], args?: readonly string[]): Promise<unknown>;
}

/**
 * A guard for something kept in Redis. Its mark, the highest token, is at `<prefix>:fence:<resource>`. The mark never expires: otherwise
 * stale writes would be possible again.
 * @param client a connected ioredis or node-redis client
 * @throws LockError `LOCK_INVALID`
 * @example
 * const fence = redisFence(client, 'stock');
 * await fence.claim(7n); // 6n is refused from now on: LOCK_FENCED
 */
export function redisFence(client: RedisClient, resource: string, options: RedisFenceOptions = {}): RedisFence {
  checkNames(options, KNOWN, 'options of redisFence()');
  const port = portOf(client);
  const mark = options.key ?? `${checkPrefix(options.prefix ?? 'holdfast')}:fence:${checkKey(resource)}`;

  const write: RedisFence['write'] = async (token, script, keys = [], args = []) => {
    try {
      return await port.eval(CLAIM + script, [...keys, mark], [...args, String(checkToken(token))]);
    } catch (error) {
      const newest = /FENCED (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
      throw newest === undefined ? error : fencedError(resource, token, BigInt(newest));
    }
  };
  return { write, claim: async (token) => void (await write(token, 'return 1')) };
}
