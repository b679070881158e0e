/** Prints tokens as text, as a lease does, because JSON has no such numbers. */
const asText = {
  toJSON(this: object): object {
    const shown = Object.entries(this).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]);
    return Object.fromEntries(shown) as object;
  },
};

/** Makes plain data with a `bigint` that `JSON.stringify` accepts. */
export const printable = <T extends object>(data: T): T => Object.assign(Object.create(asText) as object, data);
