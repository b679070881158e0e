/** The codes of `org.apache.zookeeper.KeeperException` that are used here. */
export const Code = {
  unimplemented: -6,
  noNode: -101,
  noAuth: -102,
  nodeExists: -110,
  sessionExpired: -112,
  invalidAcl: -114,
  authFailed: -115,
  localSession: -120,
  saslRequired: -124,
  quotaExceeded: -125,
} as const;

/** The server refused one request. */
export class KeeperError extends Error {
  override readonly name = 'KeeperError';
  readonly code: number;

  constructor(code: number, operation: string) {
    const known = Object.entries(Code).find(([, value]) => value === code)?.[0];
    super(`ZooKeeper refused ${operation}: ${known ?? 'error'} (${code})`);
    this.code = code;
  }
}

/** No answer will come. The request may have an effect, now or later. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export const isKeeperError = (error: unknown, code: number): boolean =>
  error instanceof KeeperError && error.code === code;
