import { hash } from 'node:crypto';
import type { Hints, QueueEntry } from '../contract/backend.ts';
import { Context } from '../contract/clock.ts';
import { invalid, shown } from '../contract/errors.ts';
import { EVENT_VERSION, emit } from '../contract/events.ts';
import { DEFAULT_LABEL } from '../contract/option-table.ts';
import { checkKey, checkListable, checkNames, namesOf, unsupported } from '../contract/options.ts';
import { visible } from '../contract/visible.ts';
import type { Engine } from '../engine/engine.ts';
import type { Hold, LossReason } from './hold.ts';

/** Options of a forced release: which holders it evicts, and why. */
export interface ForceOptions {
  /** The reason, for the log, and for the evicted holder, which gets 200 characters of it. */
  readonly reason: string;
  /** Only the holder with this token, as `inspect` shows it. Default: every holder of the key. */
  readonly token?: bigint;
}

const FORCE_OPTIONS = namesOf<ForceOptions>({ reason: true, token: true });

/** Evicts every holder of the key, or the one with the token. @param label the label of the caller @returns how many were evicted */
export async function forceRelease(
  { engine, number: locks }: { readonly engine: Engine; readonly number: number },
  key: string,
  options: ForceOptions,
  label = DEFAULT_LABEL,
): Promise<number> {
  const { backend } = engine;
  checkKey(key);
  checkNames(options, FORCE_OPTIONS, 'the options of forceRelease'); // a misspelt `token` would evict every holder
  const { reason, token } = options ?? {};
  if (typeof reason !== 'string' || reason === '')
    throw invalid('forceRelease needs a reason, for people who read the log later', key);
  if (token !== undefined && typeof token !== 'bigint')
    throw invalid(`a token is a bigint, as inspect() shows it, not ${shown(token)}`, key);
  if (!backend.evict) throw unsupported(backend, 'evict a holder');
  checkListable(backend, key);
  const holders: QueueEntry[] = [];
  for await (const entry of engine.inspect(key, { exact: true })) {
    if (entry.held && (token === undefined || entry.token === token)) holders.push(entry);
  }
  let evicted = 0;
  const hint = hintText(reason, label);
  for (const { token, remaining } of holders) {
    await hintEviction(engine, key, token, hint, remaining); // before the eviction: a session then notifies its holder at once, and the holder reads the hint
    if (await engine.evict(key, token)) evicted++;
    else await hintEviction(engine, key, token);
  }
  emit('forced', new Context(), () => ({
    ...{ version: EVENT_VERSION, locks, backend: backend.name },
    ...{ key, reason, evicted },
  }));
  return evicted;
}

/** The longest time for which the hint may delay an eviction, ms. */
const WRITE_TIMEOUT_MS = 1_000;
/** The longest time for which the hint may delay the notification of the holder, ms. */
const READ_TIMEOUT_MS = 250;
const MAX_HINT_TTL_MS = 3_600_000;

/** Makes the text of a hint. It has at most 329 characters, or 985 bytes: an engine may have room for 1,024 bytes only. */
const hintText = (reason: string, label: string): string => `${cut(reason, 200)}\n${cut(label, 128)}`;

/**
 * Stores a hint for the holder with this token, or removes it. A hint is advice, so an error with it is no error of the eviction.
 * @param ttl the time within which the holder asks the engine, ms
 */
const hintEviction = (engine: Engine, key: string, token: bigint, text?: string, ttl = 0): Promise<void> =>
  ask(engine, WRITE_TIMEOUT_MS, (hints) =>
    hints.write(nameOf(key, token), text, Math.min(ttl, MAX_HINT_TTL_MS) + WRITE_TIMEOUT_MS),
  );

/** Reads and removes the hint. @param rest the time within which the holder must be notified, ms @returns undefined if there is no hint to read */
function evictionOf(engine: Engine, key: string, token: bigint, rest: number) {
  if (!engine.backend.hints || !(rest > 0)) return undefined;
  const hint = ask(engine, Math.min(rest, READ_TIMEOUT_MS), (hints) => hints.read(nameOf(key, token)));
  return hint.then((text): LossReason | undefined => {
    if (typeof text !== 'string') return undefined;
    void hintEviction(engine, key, token);
    const [reason = '', label = ''] = text.split('\n').map(visible);
    return { reason, message: `it was released by force: "${reason}" (by ${label})` };
  });
}

/** Ends a hold that the engine no longer has. A hint, named by the token of its first holder here, may say that somebody evicted the hold. */
export function endGone(hold: Hold, reason: string): Promise<void> {
  const { keeper, claim, timing, token, tenure } = hold;
  const rest = timing.noticeAt - keeper.engine.clock.now();
  return hold.end(reason, evictionOf(keeper.engine, claim.key, token - BigInt(tenure.passes), rest));
}

/** Gives the name of a hint. The key and the token together name one hold, and their hash is short enough for each engine. */
const nameOf = (key: string, token: bigint): string => `\u0001evicted/${hash('sha256', `${token}/${key}`)}`;

async function ask<T>(engine: Engine, within: number, call: (hints: Hints) => Promise<T>): Promise<T | undefined> {
  const { activity, backend } = engine;
  if (!backend.hints) return undefined;
  activity.begin();
  const asked = engine.limit(() => call(backend.hints!), within, 'a hint');
  return asked.catch(() => undefined).finally(() => activity.end());
}

function cut(text: string, longest: number): string {
  const shown = visible(text);
  return (shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown).toWellFormed();
}
