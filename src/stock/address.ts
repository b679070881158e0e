/** Longest address: an encoded name of 128 bytes. */
const LONGEST = 384;

/**
 * The name under which the engine keeps a product's cells: its encoded name, an `@` (which no encoded name has), and its identity. So
 * two products of the same name share nothing. A name that would be too long is cut; the identity is enough to tell products apart.
 * Products that the first version made have no identity, and are kept under the name alone.
 */
export const addressOf = (product: string, identity: string): string =>
  identity === '' ? product : `${product.slice(0, LONGEST - 1 - identity.length)}@${identity}`;

/** The product's name, for people. */
export function productName(address: string): string {
  const [name = ''] = address.split('@');
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // cut within a character
  }
}
