import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '../connect/open.ts';
import type { Traits } from '../core/backend.ts';
import { LockError } from '../core/errors.ts';
import { createLocks, type Locks } from '../locks.ts';
import type { FaultKind } from './history.ts';
import type { Prize } from './messages.ts';
import { Book } from './referee/book.ts';
import { Crew } from './referee/crew.ts';
import { Inflict } from './referee/inflict.ts';
import { anyones, cleared } from './referee/keys.ts';
import { Register } from './referee/register.ts';
import { Watcher } from './referee/watcher.ts';
import { type Fault, schedule } from './schedule.ts';
import { type Ended, faultsOf, missing, type Verdict } from './verdict.ts';

export interface Torture {
  /** As `connect` takes it; not `memory:`. */
  readonly url: string;
  /** ms that it lasts; less where a promise is broken. */
  readonly duration: number;
  /** Of the faults, and of what the processes do. */
  readonly seed: number;
  readonly processes: number;
  /** Also where others have locks. */
  readonly besideOthers?: boolean;
  /** ms without any answer after which the server is gone for good. Default 20 s. */
  readonly patience?: number;
  /** Ends it early; what was seen so far is judged. */
  readonly signal?: AbortSignal;
  /** Called once a second. */
  readonly progress?: (so: Progress) => void;
  /** Takes each event as a line of JSON. */
  readonly write?: (line: string) => void;
  /** Of each process, how many callers want one lock after the other without a pause: for more holds. Default 0. */
  readonly busy?: number;
  /** The kinds of faults; all by default. */
  readonly faults?: readonly FaultKind[];
  /** The program has locks of another library: mutexes alone, nobody is told of a turn, and it goes on after what they break. */
  readonly others?: boolean;
  /** The program of a process; ours by default. */
  readonly worker?: URL;
}

export type Progress = Pick<Verdict, 'ran' | 'totals' | 'faults' | 'broken'>;

/** Begins every key of ours. */
export const PREFIX = 'holdfast-torture:';
/** ms: short, so that leases run out often. */
const TTL = 2_000;
const LOOK = 1_000;
const GONE = 20_000;
const PERMITS = 2;

/**
 * Processes of its own want locks of its own on an engine, while they and their connections are hurt; and a referee, which is not,
 * judges what they got.
 * @throws LockError where it cannot begin: as `connect` does, and `LOCK_INVALID` where others have locks
 */
export async function torture(plan: Torture): Promise<Verdict> {
  const { url, duration, seed, processes, progress, busy = 0, others = false } = plan;
  const backend = await openBackend(url);
  const run = `${PREFIX}${seed.toString(36)}-${process.pid.toString(36)}:`;
  const ttl = Math.min(Math.max(TTL, backend.traits.ttl.min), backend.traits.ttl.max);
  const label = `holdfast torture ${process.pid}`;
  await using locks = createLocks(backend, { ttl, label });
  if (!plan.besideOthers) await refuseOthers(locks, backend.name);

  const terms = { ttl, wakes: !others && backend.traits.wakes !== 'never', way: await wayTo(locks, `${run}referee`) };
  const book = new Book(terms, plan.write ?? (() => {}));
  const register = new Register();
  const links = !/^\s*file:/i.test(url);
  const prizes = prizesOf(others ? 'exclusive' : backend.traits.seats, run, busy);
  const crew = new Crew({ url, prizes, ttl, processes, seed, label, links, busy, worker: plan.worker }, book, register);
  const over = new AbortController();
  const inflict = new Inflict(crew, book, ttl, over.signal);
  const watcher = new Watcher(locks, `${run}referee`, inflict, over.signal, plan.patience ?? GONE);
  const so = (): Progress => {
    const { totals, broken } = book;
    return { ran: book.now() - began, totals, broken, faults: faultsOf(book.ledger.disturbances.values()) };
  };

  let began = 0;
  let ended: Ended = 'interrupted';
  const running: Promise<unknown>[] = [];
  try {
    await crew.start();
    began = book.now();
    running.push(
      watcher.watch(),
      inflictAll(schedule(seed, { duration, processes, ttl, links, kinds: plan.faults }), inflict, over.signal),
    );
    ended = await untilEnd(began + duration, book, watcher.gone, plan.signal, !others, () => progress?.(so()));
  } finally {
    over.abort();
    await Promise.all(running);
    await crew.end();
  }
  const ran = book.now() - began;
  const left = ended === 'server gone' ? [] : await cleared(locks, run, ttl).catch(() => undefined);
  for (const { key, label } of left ?? []) book.add({ what: 'remains', key, label });
  book.close();

  const faults = faultsOf(book.ledger.disturbances.values());
  const lacking = missing(book.totals, faults);
  return {
    outcome: Object.keys(book.broken).length > 0 ? 'broken' : lacking.length > 0 ? 'nothing' : 'kept',
    ...{ ended, missing: lacking, engine: backend.name, seed, ran, ttl, processes, faults },
    ...{ totals: book.totals, broken: book.broken, violations: book.violations, overslept: inflict.overslept },
    ...{ staleWrites: register.stale, staleRefused: register.refused },
    notes: notesOf(backend.traits, links, ended, left === undefined, ttl),
  };
}

async function refuseOthers(locks: Locks, engine: string): Promise<void> {
  const other = await anyones(locks);
  if (!other) return;
  const { key, label, held } = other;
  throw new LockError(
    'LOCK_INVALID',
    `${label} ${held ? 'holds' : 'waits for'} ${JSON.stringify(key)} on ${engine}: torture is for a server that nobody needs just now. Say --beside-others if it may go slow, or give another ?prefix=`,
    { key, backend: engine },
  );
}

/** The best of a few, ms. */
async function wayTo(locks: Locks, key: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < 5; tried++) {
    const began = performance.now();
    await locks.mutex(key).run(() => {});
    best = Math.min(best, (performance.now() - began) / 2);
  }
  return best;
}

/** As many kinds of lock as the engine has; few keys, so that all want the same. */
function prizesOf(seats: Traits['seats'], run: string, busy: number): Prize[] {
  const prize = (as: Prize['as'], name: string, long: number): Prize => ({
    ...{ as, key: `${run}${name}`, permits: PERMITS, long },
  });
  return [
    prize('mutex', 'quick', 0),
    // Two processes or more at each.
    ...Array.from({ length: busy }, (_, number) => prize('mutex', `busy-${number}`, 0)),
    ...['slow-1', 'slow-2', 'slow-3'].map((name) => prize('mutex', name, 0.3)),
    ...(seats === 'exclusive' ? [] : [prize('rwLock', 'shared', 0.05)]),
    ...(seats === 'counted' ? [prize('semaphore', 'counted', 0.05)] : []),
  ];
}

/** Each at its time, whatever became of the one before. */
async function inflictAll(faults: Iterable<Fault>, inflict: Inflict, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  const under: Promise<void>[] = [];
  for (const fault of faults) {
    const wait = began + fault.at - performance.now();
    await sleep(Math.max(0, wait), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    under.push(inflict.inflict(fault));
  }
  await Promise.all(under);
}

async function untilEnd(
  until: number,
  book: Book,
  gone: AbortSignal,
  interrupted: AbortSignal | undefined,
  untilBroken: boolean,
  look: () => void,
): Promise<Ended> {
  const signal = AbortSignal.any([gone, ...(interrupted ? [interrupted] : [])]);
  while (!signal.aborted) {
    const left = until - book.now();
    if (left <= 0) return 'time';
    await sleep(Math.min(LOOK, left), undefined, { signal }).catch(() => {});
    book.judge();
    look();
    if (untilBroken && Object.keys(book.broken).length > 0) return 'broken';
  }
  return gone.aborted ? 'server gone' : 'interrupted';
}

function notesOf({ wakes, seats }: Traits, links: boolean, ended: Ended, unlisted: boolean, ttl: number): string[] {
  return [
    ...(links ? [] : ['a file has no connections, so only processes were hurt']),
    ...(wakes === 'never' ? ['this engine wakes nobody, so whether waiters are woken was not judged'] : []),
    ...(seats === 'counted'
      ? []
      : [`this engine has ${seats === 'shared' ? 'no permits' : 'neither readers nor permits'}`]),
    ...(ended === 'server gone'
      ? [`what was held or waited for there lapses within ${Math.max(ttl * 1.5, 6_000)} ms`]
      : []),
    ...(unlisted && ended !== 'server gone' ? ['what was left could not be looked at'] : []),
  ];
}
