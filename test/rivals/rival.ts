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
