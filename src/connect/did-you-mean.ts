import { nearest } from './nearest.ts';

/** The ports that servers have by default. */
const SCHEMES: Readonly<Record<string, string>> = {
  6379: 'redis',
  26379: 'redis+sentinel',
  5432: 'postgres',
  3306: 'mysql',
  27017: 'mongodb',
  2379: 'etcd',
  2181: 'zookeeper',
};

/**
 * The end of a sentence that says what somebody may have meant by an address that is none: a host and its port, the path of a file, or
 * a scheme that is misspelt. Empty where it could be anything. It shows no part of a URL that may be a password.
 */
export function didYouMean(href: unknown, schemes: readonly string[] = []): string {
  if (typeof href !== 'string') return '';
  const text = href.trim();
  const port = /^(?:[\w.-]+|\[[\da-f:]+\]):(\d{1,5})$/i.exec(text)?.[1];
  if (port && SCHEMES[port]) return `; did you mean ${SCHEMES[port]}://${text}?`;
  if (/^[\w./-]+\.(?:db|sqlite3?)$/.test(text)) return `; did you mean file:${text}?`;
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const meant = scheme && nearest(scheme, schemes);
  return meant ? `; did you mean ${meant}:?` : '';
}
