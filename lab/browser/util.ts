/** `node:util`, as far as the values of memos need it: their kinds, as this page's own values have them. */
const isOf =
  (...tags: readonly string[]) =>
  (value: unknown): boolean =>
    tags.includes(Object.prototype.toString.call(value).slice(8, -1));

export const types = {
  isDate: isOf('Date'),
  isMap: isOf('Map'),
  isSet: isOf('Set'),
  isNativeError: isOf('Error'),
  isBoxedPrimitive: (value: unknown): boolean =>
    typeof value === 'object' && isOf('Number', 'String', 'Boolean', 'BigInt', 'Symbol')(value),
  isTypedArray: (value: unknown): boolean => ArrayBuffer.isView(value) && !(value instanceof DataView),
};
