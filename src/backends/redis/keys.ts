const ESCAPES: Readonly<Record<string, string>> = { '%': '%25', '{': '%7B', '}': '%7D' };

/** Encodes a name, so that its braces do not move the hash tag, and no two names become one. */
const encode = (name: string): string => name.replace(/[%{}]/g, (char) => ESCAPES[char]!);

/**
 * Gives the key in which a lock is kept. Scripts use two more, `…:queue` and `…:claims`. They have the same hash tag, and so the same slot
 * of a Cluster.
 */
export const lockOf = (prefix: string, name: string): string =>
  `${prefix}:{${/[%{}]/.test(name) ? encode(name) : name}}`;

/**
 * Gives the keys that a command names for these locks. The scripts derive the other two keys of a lock from its own, which saves naming
 * them; a Cluster has to be told. While it moves a slot, key by key, it refuses a command whose keys are not all there (TRYAGAIN). Only
 * that keeps a script from a lock without its queue, which would look like one that nobody holds.
 */
export function keysOf(locks: readonly string[], cluster: boolean, withValue = false): readonly string[] {
  if (!cluster) return locks;
  const others = [':queue', ':claims', ...(withValue ? [valueKeyOf('')] : [])];
  return [...locks, ...locks.flatMap((lock) => others.map((end) => `${lock}${end}`))];
}

/** Gives the key of the value under a lock. The scripts for values derive it from the key of the lock. */
export const valueKeyOf = (lock: string): string => `${lock}:value`;

/** Gives the key of a hint. A lock of the same name has other keys. */
export const hintKeyOf = (prefix: string, name: string): string => `${lockOf(prefix, name)}:hint`;

/** Gives the name behind a lock's key, or undefined for any other key. */
export function nameOf(prefix: string, key: string): string | undefined {
  const start = `${prefix}:{`;
  if (!key.startsWith(start) || !key.endsWith('}')) return undefined;
  const encoded = key.slice(start.length, -1);
  return encoded.includes('}') ? undefined : encoded.replace(/%(25|7B|7D)/g, decodeURIComponent);
}

/** Makes the pattern with which SCAN finds all locks whose names begin with `start`. */
export function patternOf(prefix: string, start: string): string {
  return `${escapePattern(`${prefix}:{${encode(start)}`)}*}`;
}

/** Makes a pattern of SCAN that only this text fits. */
export const escapePattern = (text: string): string => text.replace(/[\\*?[\]^-]/g, '\\$&');

export const SLOTS = 16_384;

/** CRC-16/XMODEM (polynomial 0x1021), as the Redis Cluster specification wants it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/** Gives the slot of a key in a Redis Cluster. If there is text in the first pair of braces, it alone decides the slot. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const tag = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  return crc16(new TextEncoder().encode(tag)) % SLOTS;
}
