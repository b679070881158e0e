/** Makes one thing for all copies of the package in this process. They may be of different versions, so its form never changes. */
export function ofAllCopies<T extends object>(name: string, make: () => T): T {
  const known = globalThis as { [name: symbol]: T | undefined };
  const symbol = Symbol.for(`holdfast.${name}`);
  known[symbol] ??= make();
  return known[symbol];
}
