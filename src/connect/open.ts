import {
  type Backend,
  backOff,
  type Clock,
  callListener,
  checkNames,
  invalid,
  isLockError,
  LockError,
  namesOf,
  onAbort,
  sleep,
  systemClock,
  type Wait,
  waitIn,
} from '../core/index.ts';
import { type EngineUrl, type OpenEngine, several, withConnectLimit } from './engine.ts';
import { ENGINES } from './registry.ts';
import { type Address, parseAddress } from './url.ts';

const engines = Object.values(ENGINES);

/**
 * The end of the error for an address that names no engine. It suggests a URL if the address is a host and port, the path of a file, or has a
 * misspelt scheme; otherwise it is empty. It shows no part of the address that may be a password.
 */
function didYouMean(href: unknown): string {
  if (typeof href !== 'string') return '';
  const text = href.trim();
  const port = /^(?:[\w.-]+|\[[\da-f:]+\]):(\d{1,5})$/i.exec(text)?.[1];
  const byPort = port && engines.map(({ ports }) => ports?.[Number(port)]).find(Boolean);
  if (byPort) return `; did you mean ${byPort}://${text}?`;
  if (/^[\w./-]+\.(?:db|sqlite3?)$/.test(text)) return `; did you mean file:${text}?`;
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const schemes = engines.flatMap((engine) => engine.schemes);
  const meant = scheme && nearest(scheme, schemes);
  return meant ? `; did you mean ${meant}:?` : '';
}

/**
 * The name that differs from a text by the fewest letters, if these are few.
 * @example nearest('lits', ['list', 'show']) === 'list'
 */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, far: name.startsWith(text) && text.length > 1 ? 0.5 : distance(text, name) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** How many letters to add, drop, change, or swap with the next letter, to turn one text into the other. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? rows[i - 2]![j - 2]! + 1 : changed;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, changed, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/**
 * Opens the engine that a URL names, or a quorum of several, and waits for its answer. The caller closes the backend.
 * @throws LockError as `connect` does
 */
export async function openBackend(url: string | readonly string[]): Promise<Backend> {
  const { backend, reached } = await (Array.isArray(url) ? several(url.map(open)) : open(url as string));
  try {
    await reached;
    return backend;
  } catch (error) {
    await closeQuietly(backend);
    throw error;
  }
}

/** Closes within the time limit of a connect, and ignores errors: the caller has an error to throw already. */
export const closeQuietly = (backend: Backend): Promise<void> => withConnectLimit(backend.close()).catch(() => {});

/**
 * The SQL that sets up the engine of a URL; undefined for an engine that needs none, or has none to show.
 * @throws LockError `LOCK_INVALID` for a bad URL
 */
export async function setupScriptOf(url: string): Promise<string | undefined> {
  const { engine, address } = find(url);
  return engine.setupScript?.(address);
}

async function open(url: string): Promise<OpenEngine> {
  const { engine, address } = find(url);
  return engine.open(address);
}

/** @throws LockError `LOCK_INVALID` */
function find(url: string): { readonly engine: EngineUrl; readonly address: Address } {
  const address = parseAddress(url, didYouMean);
  const engine = engines.find(({ schemes }) => schemes.includes(address.scheme));
  if (!engine) {
    const examples = engines.map(({ example }) => example).join(', ');
    throw invalid(`no engine has URLs of ${address.scheme}:; there are ${examples}${didYouMean(url)}`);
  }
  if (engine.params !== 'any') checkParams(address, engine.params);
  return { engine, address };
}

/** A misspelt or repeated parameter must not be ignored: it might be the one that asks for TLS. */
function checkParams({ scheme, params }: Address, known: readonly string[]): void {
  for (const name of params.keys()) {
    if (!known.includes(name)) throw invalid(`${scheme}: has no ?${name}=; there are ${known.join(', ') || 'none'}`);
    if (params.getAll(name).length > 1) throw invalid(`?${name}= is given more than once`);
  }
}

/** Options of `connect` for a server that is not there yet. */
export interface ConnectOptions {
  /**
   * How long to go on trying while the server cannot be reached: 0 to a year. Default 0: one attempt, which takes up to 5 s. A wrong
   * address, user, password or certificate is an error at once.
   */
  readonly within?: Wait | undefined;
  /** Ends the wait: `LOCK_ABORTED`. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the error of each failed attempt but the last. */
  readonly onError?: ((error: LockError) => void) | undefined;
}

const KNOWN = namesOf<ConnectOptions>({ within: true, signal: true, onError: true });
const RETRY_PAUSE_MS = { pause: 100, jitter: 0.5, bound: 2_000 };

/**
 * Calls `open` again and again, while another attempt may succeed.
 * @param close called with the result of an `open` that ends after `signal` was aborted
 * @throws LockError of the last attempt, or `LOCK_ABORTED`
 */
export async function patiently<T>(
  open: () => Promise<T>,
  close: (opened: T) => unknown,
  options: ConnectOptions,
  clock: Clock = systemClock,
): Promise<T> {
  checkNames(options, KNOWN, 'the options of connect()');
  const { signal, onError } = options;
  const until = clock.now() + waitIn(options.within ?? 0, 'within');
  for (let attempts = 0; ; attempts++) {
    if (signal?.aborted) throw abortError(signal);
    try {
      const opening = open();
      return await (signal ? unlessAborted(opening, signal, close) : opening);
    } catch (error) {
      const remaining = until - clock.now();
      if (remaining <= 0 || !mayPass(error)) throw error;
      if (onError) callListener('onError of connect()', onError, error as LockError);
      await sleep(clock, Math.min(remaining, backOff(RETRY_PAUSE_MS, attempts, clock.random())), signal);
    }
  }
}

const unlessAborted = <T>(opening: Promise<T>, signal: AbortSignal, close: (opened: T) => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    const unlisten = onAbort(signal, () => {
      reject(abortError(signal));
      opening.then(close).catch(() => {});
    });
    opening.then(resolve, reject).finally(unlisten);
  });

const abortError = (signal: AbortSignal): LockError =>
  new LockError('LOCK_ABORTED', 'connect() was ended by its signal', { cause: signal.reason });

const denials = engines.flatMap((engine) => engine.denials ?? []);
/** How the codes of Node's errors about certificates begin. */
const DISTRUST = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;

/**
 * Whether another attempt may succeed. True if the server or its name is not there yet, does not answer, or has no room. False if the address, the
 * driver, a user, a password or a certificate is wrong, or if the backend says what is wrong.
 */
function mayPass(error: unknown): boolean {
  if (!isLockError(error, 'LOCK_UNAVAILABLE') || error.backend !== undefined) return false;
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.some(mayPass); // of several engines
  const { code, message = '' } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  const isDenied = denials.some((denial) => (typeof denial === 'string' ? denial === code : denial.test(message)));
  return !isDenied && !DISTRUST.test(String(code));
}
