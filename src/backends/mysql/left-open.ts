import type { Header, Row } from './connection.ts';

/**
 * The application gave a connection back with something left open on it. The end of that also commits or undoes what we did there.
 * So nothing that we asked on it counts. We end the connection, and the server undoes it all.
 */
export class LeftOpen extends Error {
  readonly what: keyof typeof ADVICE;

  constructor(what: keyof typeof ADVICE, cause?: unknown) {
    const said = `a connection of the pool was given back with ${what}`;
    super(`${said}; it has been ended, and the server undoes what was open on it: ${ADVICE[what]}`, { cause });
    this.what = what;
  }
}

const END = 'end each by COMMIT or ROLLBACK before the connection goes back';
const ADVICE = {
  'a transaction left open': END,
  'a transaction left open that takes no writes': `${END}, and leave the sessions of this pool read-write`,
  'an XA transaction left open': 'end each by XA COMMIT or XA ROLLBACK before the connection goes back',
  'tables left locked': 'UNLOCK TABLES before the connection goes back',
  'autocommit off': 'leave autocommit on in this pool',
} as const;

/** ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, XAER_RMFAIL, ER_TABLE_NOT_LOCKED_FOR_WRITE, ER_TABLE_NOT_LOCKED. */
const REFUSED: Readonly<Record<number, keyof typeof ADVICE>> = {
  1792: 'a transaction left open that takes no writes',
  1399: 'an XA transaction left open',
  1099: 'tables left locked',
  1100: 'tables left locked',
};

/** Each answer of the server says this about the session: SERVER_STATUS_IN_TRANS, SERVER_STATUS_AUTOCOMMIT. */
const [IN_TRANSACTION, AUTOCOMMIT] = [1, 2];

/** The error of the server; a `LeftOpen`, where it refused a statement for what was left open. */
export function leftOpenError(error: unknown): unknown {
  const what = REFUSED[(error as { errno?: number } | undefined)?.errno ?? 0];
  return what ? new LeftOpen(what, error) : error;
}

/**
 * @returns true where nothing was open; undefined where these rows cannot tell (`open`)
 * @throws LeftOpen
 */
export function checkAlone(result: unknown): boolean | undefined {
  if (Array.isArray(result)) {
    const [row] = result as Row[];
    if (row?.open === undefined) return true; // the statement does not ask for it
    if (row.open === null) return undefined;
    if (Number(row.open) !== 0)
      throw new LeftOpen(Number(row.open) === 2 ? 'autocommit off' : 'a transaction left open');
    return true;
  }
  const { serverStatus = AUTOCOMMIT } = result as Header;
  if (!(serverStatus & AUTOCOMMIT)) throw new LeftOpen('autocommit off');
  if (serverStatus & IN_TRANSACTION) throw new LeftOpen('a transaction left open');
  return true;
}
