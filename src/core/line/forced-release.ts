import { checkListable, unsupported } from '../contract/capability.ts';
import { Context } from '../contract/context.ts';
import { invalid, shown } from '../contract/errors.ts';
import { EVENT_VERSION, emit } from '../contract/events.ts';
import { checkKey } from '../contract/key.ts';
import { checkNames, namesOf } from '../contract/options.ts';
import type { LockRuntime } from './runtime.ts';

/** Options of a forced release: which holders it evicts, and why. */
export interface ForceOptions {
  /** The reason, for people who read the log later. */
  readonly reason: string;
  /** Only the holder with this ticket, as `inspect` shows it. Default: every holder of the key. */
  readonly ticket?: bigint;
}

const FORCE_OPTIONS = namesOf<ForceOptions>({ reason: true, ticket: true });

/** Evicts every holder of the key, or the one with the ticket. @returns how many */
export async function forceRelease(runtime: LockRuntime, key: string, options: ForceOptions): Promise<number> {
  const { engine, number: locks } = runtime;
  const { backend } = engine;
  checkKey(key);
  checkNames(options, FORCE_OPTIONS, 'the options of forceRelease'); // a misspelt `ticket` would evict every holder
  const { reason, ticket } = options ?? {};
  if (typeof reason !== 'string' || reason === '')
    throw invalid('forceRelease needs a reason, for people who read the log later', key);
  if (ticket !== undefined && typeof ticket !== 'bigint')
    throw invalid(`a ticket is a bigint, as inspect() shows it, not ${shown(ticket)}`, key);
  if (!backend.evict) throw unsupported(backend, 'evict a holder');
  checkListable(backend, key);
  const holders: bigint[] = [];
  for await (const standing of engine.inspect(key, { exact: true })) {
    if (standing.held && (ticket === undefined || standing.ticket === ticket)) holders.push(standing.ticket);
  }
  let evicted = 0;
  for (const holder of holders) if (await engine.evict(key, holder)) evicted++;
  emit('forced', new Context(), () => ({
    ...{ version: EVENT_VERSION, locks, backend: backend.name },
    ...{ key, reason, evicted },
  }));
  return evicted;
}
