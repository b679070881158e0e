/** Work that goes on while a case does something else: should it fail before it is awaited, it is heard of then and not before. */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
