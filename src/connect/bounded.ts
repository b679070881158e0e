/** How long opening a connection may take, ms. */
export const CONNECT_WITHIN = 5_000;

/** `promise`, or an error when it takes too long: a server that is stopped takes connections and never answers. */
export function bounded<T>(promise: Promise<T>, within: number = CONNECT_WITHIN): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${within} ms`)), within);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
