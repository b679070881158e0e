/** `node:crypto`, as far as ids need it. */
export const randomBytes = (length: number) => {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return { toString: (_as: 'hex') => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') };
};
