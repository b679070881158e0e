import { invalid, isLockError, LockError, reasonOf, shown } from '../core/index.ts';

/** The parts of an engine's URL. It may have several hosts, which the platform's own `URL` does not allow. */
export interface Address {
  readonly scheme: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly hosts: readonly { readonly host: string; readonly port: number | undefined }[];
  /** The path without its first slash. */
  readonly path: string;
  readonly params: URLSearchParams;
  /** The URL as it was given, for drivers that read it themselves. */
  readonly href: string;
  /** The URL for messages, without the credentials. */
  readonly shown: string;
}

const FORM = /^([a-z][a-z0-9+]*):(?:\/\/(?:([^@/]*)@)?([^/?]*))?\/?([^?]*)(?:\?(.*))?$/is;

/**
 * @param suggestion gives the end of the error for a text that is no URL
 * @throws LockError `LOCK_INVALID`; a message never shows credentials.
 */
export function parseAddress(href: string, suggestion: (href: unknown) => string = () => ''): Address {
  const match = typeof href === 'string' ? FORM.exec(href.trim()) : null;
  if (!match) {
    const given = typeof href === 'string' ? 'not a URL' : `${shown(href)} and not a URL`;
    throw invalid(
      `the address of the engine is ${given}, such as redis://127.0.0.1 or file:./locks.db${suggestion(href)}`,
    );
  }
  const [, scheme, credentials, authority, path, query] = match;
  const colon = credentials?.indexOf(':') ?? -1;
  const decodeIfGiven = (text: string | undefined): string | undefined => (text ? decode(text) : undefined);
  return {
    scheme: scheme!.toLowerCase(),
    user: decodeIfGiven(colon < 0 ? credentials : credentials?.slice(0, colon)),
    password: colon < 0 ? undefined : decodeIfGiven(credentials?.slice(colon + 1)),
    hosts: (authority ?? '').split(',').filter(Boolean).map(hostOf),
    path: decode(scheme?.toLowerCase() === 'file' ? fileOf(href.trim()) : (path ?? '')),
    params: new URLSearchParams(query ?? ''),
    href: href.trim(),
    shown: redacted(href.trim()),
  };
}

/** file:/a/b, file:///a/b and file://localhost/a/b are the same; file:a is relative. */
const fileOf = (href: string): string => href.replace(/^file:(\/\/(localhost(?=\/))?)?/i, '').replace(/\?.*$/s, '');

/** The URL of a file by its path, which may have any characters. */
export const urlOfFile = (path: string): string => `file:${path.replace(/[%?]/g, (char) => encodeURIComponent(char))}`;

/** A URL to show. All text up to the last `@` is hidden, since a password may have an `@`. So are MongoDB's properties that may have a token. */
export const redacted = (href: string): string =>
  href.replace(/\/\/.*@/s, '//***@').replace(/([?&][^=&]*(?:pass|token|secret|properties)[^=&]*=)[^&]*/gi, '$1***');

function hostOf(text: string): { host: string; port: number | undefined } {
  const match = /^(\[[^\]]+\]|[^:@\s]+)(?::(\d{1,5}))?$/.exec(text);
  if (!match) {
    // The text is not shown: it may be half of a password.
    throw invalid(
      'the URL has no host or host:port where one belongs; a password with / ? # @ must be percent-encoded (%2F %3F %23 %40)',
    );
  }
  return { host: match[1]!.replace(/^\[|\]$/g, ''), port: match[2] === undefined ? undefined : Number(match[2]) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('the URL has a % that is not followed by two hexadecimal digits; write it as %25');
  }
}

/** A driver's error without the credentials of this address. */
export const safe = ({ href, password }: Address, error: unknown): Error =>
  withoutSecrets(error, [href, password ?? '', encodeURIComponent(password ?? '')]);

/** The error for a server that was not reached. It shows no credentials, even if the driver's own error has them. */
export function unreachable(address: Address, error: unknown): LockError {
  const cause = safe(address, error);
  if (isLockError(cause)) return cause; // the engine was reached, and its backend says what is wrong
  return new LockError(
    'LOCK_UNAVAILABLE',
    `could not connect to ${address.shown}: ${cause.message.replace(/\.$/, '')}. Check the address, the user and password, and that the server runs`,
    { cause },
  );
}

/** Gives the named parameters, without those that the URL does not have. */
export const pick = <N extends string>({ params }: Address, ...names: readonly N[]): Partial<Record<N, string>> =>
  Object.fromEntries(names.flatMap((name) => (params.has(name) ? [[name, params.get(name)]] : []))) as Partial<
    Record<N, string>
  >;

/** `host:port` of each host. */
export const endpoints = ({ hosts }: Address, port: number): string[] =>
  (hosts.length > 0 ? hosts : [{ host: '127.0.0.1', port: undefined }]).map(
    (each) => `${each.host.includes(':') ? `[${each.host}]` : each.host}:${each.port ?? port}`,
  );

/** The host and port of an engine that is one server. @throws LockError `LOCK_INVALID` */
export function single({ hosts, scheme }: Address, port: number): { host: string; port: number } {
  if (hosts.length > 1) throw invalid(`${scheme}: names one server, and this URL has ${hosts.length}`);
  return { host: hosts[0]?.host ?? '127.0.0.1', port: hosts[0]?.port ?? port };
}

/** A driver's error with only its name, code, message, stack and causes. Some drivers add the command (`AUTH user password`) or the URL. */
function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const safe = (text: string): string =>
    secrets.reduce((shown, secret) => (secret === '' ? shown : shown.replaceAll(secret, '***')), text);
  if (!(error instanceof Error)) return new Error(safe(String(error)));
  const cause = error.cause === undefined ? undefined : withoutSecrets(error.cause, secrets);
  const { code, stack } = error as Error & { code?: unknown };
  const text = error.message || (error instanceof AggregateError ? reasonOf(error) : String(code ?? error.name));
  const message = safe(text);
  const safeError = isLockError(error)
    ? new LockError(error.code, message, { key: error.key, backend: error.backend, cause })
    : Object.assign(new Error(message, cause && { cause }), { name: error.name }, code === undefined ? {} : { code });
  if (stack !== undefined) safeError.stack = safe(stack);
  return safeError;
}
