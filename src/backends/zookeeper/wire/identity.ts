/** What names a session. A client that has both may resume the session on another connection. */
export interface Identity {
  readonly id: bigint;
  readonly password: Uint8Array;
}

/** Asks for a new session. */
export const NOBODY: Identity = { id: 0n, password: new Uint8Array(16) };

/** The answer of the server to a session that is opened or resumed. */
export interface Welcome extends Identity {
  /** The session timeout that the server granted, ms. */
  readonly timeout: number;
}
