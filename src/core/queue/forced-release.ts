import type { QueueEntry } from '../contract/backend.ts';
import { Context } from '../contract/clock.ts';
import { invalid, shown } from '../contract/errors.ts';
import { EVENT_VERSION, emit } from '../contract/events.ts';
import { DEFAULT_LABEL } from '../contract/option-table.ts';
import { checkKey, checkListable, checkNames, namesOf, unsupported } from '../contract/options.ts';
import { evictionNote, noteEviction } from './eviction.ts';
import type { LockRuntime } from './runtime.ts';

/** Options of a forced release: which holders it evicts, and why. */
export interface ForceOptions {
  /** The reason, for people who read the log later, and for the evicted holder, which gets 200 characters of it. */
  readonly reason: string;
  /** Only the holder with this token, as `inspect` shows it. Default: every holder of the key. */
  readonly token?: bigint;
}

const FORCE_OPTIONS = namesOf<ForceOptions>({ reason: true, token: true });

/** Evicts every holder of the key, or the one with the token. @param label who does it @returns how many */
export async function forceRelease(
  runtime: LockRuntime,
  key: string,
  options: ForceOptions,
  label = DEFAULT_LABEL,
): Promise<number> {
  const { engine, number: locks } = runtime;
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
  for await (const standing of engine.inspect(key, { exact: true })) {
    if (standing.held && (token === undefined || standing.token === token)) holders.push(standing);
  }
  let evicted = 0;
  const note = evictionNote(reason, label);
  for (const { token, remaining } of holders) {
    await noteEviction(engine, key, token, note, remaining); // before: a session tells its holder at once
    if (await engine.evict(key, token)) evicted++;
    else await noteEviction(engine, key, token);
  }
  emit('forced', new Context(), () => ({
    ...{ version: EVENT_VERSION, locks, backend: backend.name },
    ...{ key, reason, evicted },
  }));
  return evicted;
}
