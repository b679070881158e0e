/** Keys of which it was told. A process may use any number of keys. */
const told = new Set<string>();
const MOST = 1_000;

/** Warns once per key, since each call of it has the same trouble. */
export function tellOnce(key: string, message: string): void {
  if (told.has(key)) return;
  if (told.size === MOST) told.clear();
  told.add(key);
  process.emitWarning(message, 'HoldfastUnkeptWarning');
}
