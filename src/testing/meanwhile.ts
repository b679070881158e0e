/** Work that goes on beside a case. If it fails before the case awaits it, the failure is no unhandled rejection. */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
