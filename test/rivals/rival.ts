/** A lock of another library, as the processes of torture ask for it. An adapter says no more than its own documents tell a user to do. */
export interface Rival {
  /** @param ms how long it may wait. Null: somebody else has it, or it could not be had. */
  obtain(key: string, ttl: number, ms: number): Promise<RivalHold | null>;
  close(): Promise<void>;
}

export interface RivalHold {
  /** What its user would believe. */
  held(): boolean;
  /** ms that it lasts, where the library tells. */
  remaining?(): number;
  /** Aborted where the library tells of a loss. */
  readonly signal?: AbortSignal;
  release(): Promise<unknown>;
}

/**
 * A hold of a library whose `using` has it for as long as a function runs.
 * @param using runs the function with the lock, and gives it the signal of a loss
 */
export const holdOf = (
  using: (work: (signal: AbortSignal) => Promise<void>) => Promise<unknown>,
): Promise<RivalHold | null> =>
  new Promise((resolve) => {
    const { promise: over, resolve: done } = Promise.withResolvers<void>();
    const used = using(async (signal) => {
      const release = async (): Promise<void> => {
        done();
        await used.catch(() => {});
      };
      resolve({ held: () => !signal.aborted, signal, release });
      await over;
    });
    used.catch(() => resolve(null));
  });
