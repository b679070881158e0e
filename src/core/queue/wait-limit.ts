import type { Cancel } from '../contract/clock.ts';
import { inWords } from '../contract/duration.ts';
import { inMs, LockError, quoted, reasonOf } from '../contract/errors.ts';
import { DEFAULT_WAIT_MS } from '../contract/option-table.ts';
import { RecentKeys } from '../contract/recent-keys.ts';
import type { Terms } from '../contract/terms.ts';
import type { Engine } from '../engine/engine.ts';
import type { SentRecord } from './claim-step.ts';

/** How long before the end of a default wait the engine is asked for the holders, ms. The error names them. */
const LOOK_AHEAD_MS = 1_000;
/** How many holders an error names. */
const MAX_HOLDERS = 3;

/** A request as its limit sees it. */
interface LimitedRequest {
  readonly key: string;
  readonly began: number;
  readonly terms: Terms;
  readonly queued: { readonly record: Pick<SentRecord, 'silence'> } | undefined;
  readonly events: { readonly context: { readonly engine: Engine } };
}

/** Calls `giveUp` with the error at the end of the wait. @returns a function that cancels this */
export function limitWait(request: LimitedRequest, giveUp: (error: LockError) => void): Cancel {
  const { key, events, terms, began } = request;
  const { engine } = events.context;
  const { clock } = engine;
  let holders = '';
  const end = (): void => giveUp(timeoutError(request, holders));
  if (!terms.isDefaultWait) return clock.after(terms.wait, end);
  // The limit of a default wait is set when the request begins to wait, which may be later than `began`.
  const rest = Math.max(0, began + terms.wait - clock.now());
  if (!engine.backend.inspect) return clock.after(rest, end);
  // The engine is asked before the end of the wait, so that this question does not make the wait longer.
  const ahead = Math.min(LOOK_AHEAD_MS, rest);
  let cancel = clock.after(rest - ahead, () => {
    cancel = clock.after(ahead, end);
    void holdersOf(engine, key).then((found) => {
      holders = found;
    });
  });
  return () => cancel();
}

type Looks = RecentKeys<{ readonly at: number; readonly found: Promise<string> }>;
const looks = new WeakMap<Engine, Looks>();

/** Names the holders of the key; empty if no holder is known. Callers that ask at about the same time share one look. */
function holdersOf(engine: Engine, key: string): Promise<string> {
  const recent = looks.get(engine) ?? (new RecentKeys() as Looks);
  looks.set(engine, recent);
  const now = engine.clock.now();
  const last = recent.get(key);
  if (last && now - last.at < LOOK_AHEAD_MS / 2) return last.found;
  const found = look(engine, key).catch(() => '');
  recent.set(key, { at: now, found });
  return found;
}

async function look(engine: Engine, key: string): Promise<string> {
  const holders: string[] = [];
  for await (const { held, label, since } of engine.inspect(key, { exact: true })) {
    if (!held || holders.length === MAX_HOLDERS) break; // the holders come first
    const asked = since === undefined ? '' : `, and asked for it ${Math.round(since / 1_000)} s ago`;
    holders.push(`${quoted(label)} holds it${asked}`);
  }
  return holders.join('; ');
}

/**
 * Makes the error at the end of a wait. If the engine did not answer during the second half of the wait, the error says so, since the reader has to
 * act differently then. The first half does not count: if other callers of this process had the key, the engine was asked only later, and is not to
 * blame.
 */
function timeoutError({ key, queued, began, terms, events }: LimitedRequest, holders: string): LockError {
  const { wait, isDefaultWait } = terms;
  const { name: backend } = events.context.engine.backend;
  const cause = queued?.record.silence(began + wait / 2);
  const within = isDefaultWait ? `${inWords(DEFAULT_WAIT_MS)}, the default of wait` : inMs(wait);
  const waited = `${quoted(key)} could not be had on ${backend} within ${within}`;
  const details = { key, backend, cause };
  if (cause !== undefined) {
    const advice = 'What it may have done is being undone; try again';
    return new LockError('LOCK_UNAVAILABLE', `${waited}: ${reasonOf(cause)}. ${advice}`, details);
  }
  const why = holders || 'others hold it or were first';
  const advice = isDefaultWait ? "To wait longer, give wait: '5m' or wait: 'forever'" : 'Wait longer or try later';
  const listed = 'inspect() shows who, where the engine can list';
  return new LockError('LOCK_TIMEOUT', `${waited}: ${why}. ${advice}; ${listed}`, details);
}
