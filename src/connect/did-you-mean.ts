import type { EngineUrl } from './engine.ts';
import { nearest } from './nearest.ts';

/**
 * The end of a sentence that says what somebody may have meant by an address that is none: a host and its port, the path of a file, or
 * a scheme that is misspelt. Empty where it could be anything. It shows no part of a URL that may be a password.
 */
export function didYouMean(href: unknown, engines: readonly EngineUrl[]): string {
  if (typeof href !== 'string') return '';
  const text = href.trim();
  const port = /^(?:[\w.-]+|\[[\da-f:]+\]):(\d{1,5})$/i.exec(text)?.[1];
  const byPort = port && engines.map(({ ports }) => ports?.[Number(port)]).find(Boolean);
  if (byPort) return `; did you mean ${byPort}://${text}?`;
  if (/^[\w./-]+\.(?:db|sqlite3?)$/.test(text)) return `; did you mean file:${text}?`;
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const meant =
    scheme &&
    nearest(
      scheme,
      engines.flatMap(({ schemes }) => schemes),
    );
  return meant ? `; did you mean ${meant}:?` : '';
}
