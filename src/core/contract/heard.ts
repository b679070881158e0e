/**
 * What throws instead of rejecting is heard in the same way, and what gives no promise too: not every backend is written in
 * TypeScript. Not an async function: those settle some turns later.
 */
export function heard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(call()); // a promise as it is
  } catch (error) {
    return Promise.reject(error);
  }
}
