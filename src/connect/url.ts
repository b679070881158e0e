import { invalid, LockError } from '../core/errors.ts';

/** An engine's address, taken apart. Several hosts are allowed, which the platform's own URL does not know. */
export interface Address {
  readonly scheme: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly hosts: readonly { readonly host: string; readonly port: number | undefined }[];
  /** What follows the hosts, without its leading slash. */
  readonly path: string;
  readonly params: URLSearchParams;
  /** As given, for drivers that read it themselves. */
  readonly href: string;
  /** For messages: without the credentials. */
  readonly shown: string;
}

const FORM = /^([a-z][a-z0-9+]*):(?:\/\/(?:([^@/]*)@)?([^/?]*))?\/?([^?]*)(?:\?(.*))?$/is;

/** @throws LockError `LOCK_INVALID`; a message never shows credentials. */
export function parseAddress(href: string): Address {
  const match = typeof href === 'string' ? FORM.exec(href.trim()) : null;
  if (!match)
    throw invalid('connect() was given something that is not a URL; try redis://127.0.0.1 or file:./locks.db');
  const [, scheme, credentials, authority, path, query] = match;
  const colon = credentials?.indexOf(':') ?? -1;
  const decoded = (text: string | undefined): string | undefined => (text ? decode(text) : undefined);
  return {
    scheme: scheme!.toLowerCase(),
    user: decoded(colon < 0 ? credentials : credentials?.slice(0, colon)),
    password: colon < 0 ? undefined : decoded(credentials?.slice(colon + 1)),
    hosts: (authority ?? '').split(',').filter(Boolean).map(hostOf),
    // file:/a/b and file:///a/b are the same; file:a is relative.
    path:
      scheme?.toLowerCase() === 'file'
        ? href
            .trim()
            .replace(/^file:(\/\/)?/i, '')
            .replace(/\?.*$/s, '')
        : decode(path ?? ''),
    params: new URLSearchParams(query ?? ''),
    href: href.trim(),
    shown: redacted(href.trim()),
  };
}

/** A URL as it may be shown. */
export const redacted = (href: string): string =>
  href.replace(/\/\/[^@/]*@/, '//***@').replace(/([?&](?:password|pass|token|secret)=)[^&]*/gi, '$1***');

function hostOf(text: string): { host: string; port: number | undefined } {
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text);
  if (!match) throw invalid(`${JSON.stringify(text)} is not host or host:port`);
  return { host: match[1]!.replace(/^\[|\]$/g, ''), port: match[2] === undefined ? undefined : Number(match[2]) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('the URL has a % that is not followed by two hexadecimal digits; write it as %25');
  }
}

/** What could not be reached, said without credentials, also where the driver's own message has them. */
export function unreachable({ shown, href }: Address, cause: unknown): LockError {
  const reason = (cause instanceof Error ? cause.message || cause.name : String(cause)).replaceAll(href, shown);
  return new LockError(
    'LOCK_UNAVAILABLE',
    `could not connect to ${shown}: ${reason}. Check the address, and that the server runs`,
    { cause },
  );
}
