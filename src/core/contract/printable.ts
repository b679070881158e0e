/** As a lease prints itself: a token or ticket as text, since JSON has no such numbers. */
const asText = {
  toJSON(this: object): object {
    const shown = Object.entries(this).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]);
    return Object.fromEntries(shown) as object;
  },
};

/** Plain data with a `bigint`, which `JSON.stringify` takes all the same. */
export const printable = <T extends object>(data: T): T => Object.assign(Object.create(asText) as object, data);
