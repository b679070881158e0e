/** An act that is done once, for all who ask. After a failure the next one who asks tries again. */
export function remembered<T>(act: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  return () => {
    known ??= act().catch((error) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}
