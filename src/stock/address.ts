/** Longest address: a name of 128 bytes, encoded. */
const LONGEST = 384;

/**
 * Under what a product's cells are kept: its name, encoded, and behind an `@` (which no encoded name has) its identity, so that
 * nothing of a product ever meets another one of the same name. A name that would be too long with it is cut: the identity is
 * enough to tell it apart. Products that the first version made have none, and are kept under the bare name.
 */
export const addressOf = (product: string, identity: string): string =>
  identity === '' ? product : `${product.slice(0, LONGEST - 1 - identity.length)}@${identity}`;

/** The product's name, for people. */
export function nameOf(address: string): string {
  const [name = ''] = address.split('@');
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // cut within a character
  }
}
