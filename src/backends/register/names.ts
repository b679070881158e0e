import { hash } from 'node:crypto';

/** Longest name that is spelt out. Object stores take 1,024 bytes, with the prefix. */
const LONGEST = 512;
/** How much of a longer name is spelt out: the rest is a digest. */
const HEAD = 440;
const PLAIN = /^[A-Za-z0-9_-]$/;

/** A key in characters that every store takes: each other byte is `=` and two hexadecimal digits. */
const spelt = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `=${byte.toString(16).padStart(2, '0')}`;
  }).join('');

export const nameOf = (key: string): string => {
  const name = spelt(key);
  return name.length <= LONGEST ? name : `${name.slice(0, HEAD)}.${hash('sha256', key, 'base64url')}`;
};

/** What the names of all keys begin with that begin with `prefix`; others may, too. */
export const headOf = (prefix: string): string => spelt(prefix).slice(0, HEAD);
