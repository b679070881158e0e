/** One thing for all copies of the package in this process, of whatever version: so what it is keeps its form. */
export function ofAllCopies<T extends object>(name: string, make: () => T): T {
  const known = globalThis as { [name: symbol]: T | undefined };
  const symbol = Symbol.for(`holdfast.${name}`);
  known[symbol] ??= make();
  return known[symbol];
}
