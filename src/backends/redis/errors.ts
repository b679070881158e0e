import { isLockError, LockError } from '../../core/index.ts';

/** The codes of refusals that would be the same if the request were repeated, each with what to do about it. */
const ADVICE: Readonly<Record<string, string>> = {
  NOAUTH: 'give the client a user and password',
  WRONGPASS: 'give the client the right user and password',
  NOPERM: "grant the user the rights listed on the engine's page, docs/backends/redis.md",
  WRONGTYPE: 'something else uses this key: choose another prefix, or remove it',
  HOLDFAST: 'upgrade every process to the same version, choose another prefix, or remove the key',
  OOM: 'raise maxmemory, or free memory; holds can still be renewed and released',
  REPLICAS: 'see that the replicas run and keep up, or ask for fewer; the lock was given back',
  CLOSED: 'give redis() a client that is connected, and close it after the locks',
  KEYS: 'at Alibaba Cloud set script_check_enable to 0: scripts compute names of keys, all in one slot. Connect to the Cluster itself, not to its proxy',
  UNKNOWN: 'Redis 6.2 or Valkey, or newer, with EVAL and EVALSHA is needed',
};

/** In the error of a script a position may stand before the code: in Redis 6, `ERR Error running script …user_script:3: -OOM …`. */
const CODED =
  /^(?:ERR )?(?:.*?user_script: ?\d+: )?-?(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|HOLDFAST|OOM|REPLICAS|CLOSED)\b/;
/** The messages of versions that give no code. */
const UNCODED: Readonly<Record<string, RegExp>> = {
  NOPERM: /The user executing the script can't|ACL failure in script/,
  KEYS: /bad lua script/,
  UNKNOWN: /unknown (?:redis )?command|not allowed from script|syntax error/i,
};

function codeOf(message: string): string | undefined {
  return CODED.exec(message)?.[1] ?? Object.keys(UNCODED).find((code) => UNCODED[code]!.test(message));
}

/** True if the user has no right to the command, or the server does not know it. Neither ends by itself. */
export const isLasting = (error: unknown): boolean =>
  ['NOPERM', 'KEYS', 'UNKNOWN'].includes(codeOf(withoutSecrets(error).message) ?? '');

/**
 * Gives what the error of a command means: a LockError if the command surely had no effect, and a repetition will have none. Other errors (a broken
 * connection, a passed limit, READONLY, MISCONF, NOREPLICAS, LOADING, MASTERDOWN, CLUSTERDOWN, TRYAGAIN, BUSY…) may be gone soon, and whether the
 * command had an effect is unknown.
 */
export function meaning(error: unknown, act: string, key?: string, backend = 'redis'): unknown {
  if (isLockError(error)) return error;
  const cause = withoutSecrets(error);
  const code = codeOf(cause.message);
  if (!code) return cause;
  const what = key === undefined ? act : `${act} ${JSON.stringify(key)}`;
  const message = `${backend} refused to ${what}: ${cause.message}. What to do: ${ADVICE[code]}`;
  return new LockError('LOCK_UNAVAILABLE', message, { key, backend, cause });
}

/** Copies an error without ids, which are secrets: ioredis attaches the command, and a server repeats the beginning of one that it does not know. */
function withoutSecrets(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { command: _, ...rest } = error as Error & { command?: unknown };
  const message = error.message.replace(/, with args beginning with: .*/s, '');
  const copy = Object.assign(new Error(message), rest);
  copy.name = error.name;
  copy.stack = error.stack?.replace(error.message, () => message);
  return copy;
}

export const isReply = (error: unknown, code: string): boolean =>
  error instanceof Error && error.message.startsWith(code);

/** Makes the error for a client that its owner has closed. */
export const closedError = (): Error => new Error('CLOSED the client is closed');
