import type { Row } from './connection.ts';

/** ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE, ER_SERVER_OFFLINE_MODE. */
const REFUSED = new Set([1290, 1836, 3032]);

/**
 * The server behind a connection takes no writes. After a fail-over behind one address, the old primary keeps the connections that it
 * had, and only a new connection leads to the new one. So we end each that is refused, and the refusal is not for good.
 */
export class NoWrites extends Error {
  constructor(said: string, cause?: unknown) {
    super(
      `the server takes no writes (${said}); the connection has been ended. If it stays so: connect to the primary`,
      {
        cause,
      },
    );
  }
}

export const isNoWrites = (error: unknown): boolean =>
  REFUSED.has((error as { errno?: number } | undefined)?.errno ?? 0);

/** Checks an answer for rows that say so (`closed`). @throws NoWrites */
export function checkWrites(result: unknown): void {
  const [row] = Array.isArray(result) ? (result as Row[]) : [];
  if (Number(row?.closed ?? 0) !== 0) throw new NoWrites('it is read-only');
}
