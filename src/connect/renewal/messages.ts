/** What the worker begins with. */
export interface Task {
  readonly url: string | readonly string[];
  /** ms for which the counter may stand still. */
  readonly stall: number;
  /** The origin of the clock that the threads share, ns by `process.hrtime`. */
  readonly origin: bigint;
  readonly control: SharedArrayBuffer;
  readonly segments: readonly SharedArrayBuffer[];
}

export type ToWorker =
  | { readonly segment: SharedArrayBuffer }
  /** There is a hold with a shorter interval than it looks for. */
  | { readonly look: true }
  | { readonly end: true };

/** An error without what cannot be copied to another thread. */
export interface Failure {
  readonly code: unknown;
  readonly message: string;
  readonly cause?: Failure | undefined;
}

export type FromWorker = { readonly ready: true } | { readonly failed: Failure };

export function failureOf(error: unknown): Failure {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  return { code: `${code}`, message: `${message ?? error}`, ...(cause !== undefined && { cause: failureOf(cause) }) };
}
