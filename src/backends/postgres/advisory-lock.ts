import { createHash } from 'node:crypto';

/**
 * The number of a key's advisory lock: 64 bits of SHA-256 over prefix and key, as a signed decimal. Other programs in the same
 * database draw from the same numbers; that two names meet by chance takes billions of them, and then they only exclude each
 * other. As text, for a JavaScript number has not 64 bits.
 */
export function lockNumber(prefix: string, key: string): string {
  // Neither part can end the other: a prefix has no NUL.
  return createHash('sha256').update(`${prefix}\0${key}`).digest().readBigInt64BE(0).toString();
}
