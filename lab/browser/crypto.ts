/** `node:crypto`, as far as ids need it. */
export const randomBytes = (length: number) => {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Object.assign(bytes, {
    toString: (_as: 'hex') => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  });
};

/**
 * A digest of 16 hexadecimal digits, for any algorithm: browsers give theirs by a promise. Names are told apart by it, and nothing is
 * kept secret.
 */
export function hash(_algorithm: string, text: string): string {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    one = Math.imul(one ^ text.charCodeAt(i), 0x9e3779b1);
    two = Math.imul(two ^ text.charCodeAt(i), 0x5f356495);
  }
  return [one, two].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
}
