/** What throws instead of rejecting is heard in the same way. Not an async function: those settle some turns later. */
export function heard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
