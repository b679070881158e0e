import { openBackend } from '../../src/connect/open.ts';
import { counted, inMs, LockError, type Traits } from '../../src/core/index.ts';
import { createLocks, type Locks } from '../../src/locks.ts';
import type { Event, FaultKind, Network, TestLock } from './events.ts';
import { Crew } from './referee/crew.ts';
import { delay, FaultInjector } from './referee/fault-injector.ts';
import { RunRecord } from './referee/run-record.ts';
import { clearKeys, firstEntry, watchEngine, watchMachine } from './referee/watcher.ts';
import { type Fault, schedule } from './schedule.ts';
import { countFaults, type EndReason, missingEvidence, type Verdict } from './verdict.ts';

export interface Torture {
  /** The address of the engine, for `connect`; not `memory:`. */
  readonly url: string;
  /** How long the run lasts, ms. It ends early if a promise is broken. */
  readonly duration: number;
  /** The seed of the faults, and of what the processes do. */
  readonly seed: number;
  readonly processes: number;
  /** Run even if others use locks on this server. */
  readonly besideOthers?: boolean;
  /** After so many ms without an answer the run ends, because the server is gone. Default 20 s. */
  readonly patience?: number;
  /** Ends the run early. The verdict covers what happened so far. */
  readonly signal?: AbortSignal;
  /** Called about once a second. */
  readonly progress?: (progress: Progress) => void;
  readonly onEvent?: (event: Event) => void;
  /** How many callers of each process take one lock after the other without a pause, for more holds. Default 0. */
  readonly busy?: number;
  /** `worker`: a thread of each process renews while the loop is blocked, as with `connect`. Default: nobody renews then. */
  readonly renewal?: 'worker' | undefined;
  /** The kinds of faults. Default: all. */
  readonly faults?: readonly FaultKind[];
  /** `worker` uses another library: only mutexes, wake-ups are not judged, and the run goes on after a broken promise. */
  readonly others?: boolean;
  /** The program of a process. Default: that of holdfast. */
  readonly worker?: URL;
  /** The command that runs the program. Default: this Node.js. */
  readonly command?: readonly string[] | undefined;
  /** Each process runs on a host of its own, and faults of the network take the place of faults of connections. */
  readonly network?: Network;
}

export type Progress = Pick<Verdict, 'ran' | 'totals' | 'faults' | 'broken'>;

/** The prefix of all our keys. */
export const PREFIX = 'holdfast-torture:';
/** Short, so that leases run out often. */
const TTL_MS = 2_000;
const LOOK_INTERVAL_MS = 1_000;
/** The referee judges for at most this part of its time, because it must not delay the connections that it proxies. */
const MAX_JUDGING_PART = 0.1;
const PATIENCE_MS = 20_000;
/** How long a process may take for its last releases and its close, which have limits of their own; if the server is gone, it only has to go. */
const [MAX_END_MS, MAX_LOST_END_MS] = [40_000, 10_000];
const PERMITS = 2;

/**
 * Starts processes that want the same locks, and disturbs them and their connections. A referee without faults judges the holds.
 * @throws LockError if the run cannot begin: the errors of `connect`, and `LOCK_INVALID` if others use locks on this server
 */
export async function torture(plan: Torture): Promise<Verdict> {
  const { url, duration, seed, processes, progress, renewal, busy = 0, others = false } = plan;
  const backend = await openBackend(url);
  const run = `${PREFIX}${seed.toString(36)}-${process.pid.toString(36)}:`;
  const ttl = Math.min(Math.max(TTL_MS, backend.traits.ttl.min), backend.traits.ttl.max);
  const label = `holdfast torture ${process.pid}`;
  await using locks = createLocks(backend, { ttl, label });
  if (!plan.besideOthers) await refuseOthers(locks, backend.name);

  const between = plan.network ? 'network' : /^\s*file:/i.test(url) ? 'nothing' : 'links';
  const terms = {
    ttl,
    stopsAll: between === 'nothing',
    standIn: renewal === 'worker',
    wakes: !others && backend.traits.wakes !== 'never',
    roundTrip: await measureRoundTrip(locks, `${run}referee`),
  };
  const record = new RunRecord(terms, plan.onEvent);
  const links = between === 'links';
  const testLocks = testLocksOf(
    others ? 'exclusive' : backend.traits.units,
    run,
    busy * Math.max(1, Math.floor(processes / 2)),
  );
  const crew = new Crew(
    {
      url,
      testLocks,
      ttl,
      processes,
      seed,
      label,
      links,
      busy,
      renewal,
      worker: plan.worker,
      command: plan.command,
      network: plan.network,
    },
    record,
  );
  const [over, gone] = [new AbortController(), new AbortController()];
  const injector = new FaultInjector(crew, record, ttl, over.signal);
  const progressNow = (): Progress => {
    const { totals, broken } = record;
    return { ran: record.now() - began, totals, broken, faults: countFaults(record.history.disturbances.values()) };
  };

  let began = 0;
  let ended: EndReason = 'interrupted';
  let hung: number[] = [];
  const running: Promise<unknown>[] = [];
  try {
    await crew.start();
    began = record.now();
    running.push(
      watchEngine(locks, `${run}referee`, terms.roundTrip, record, over.signal, plan.patience ?? PATIENCE_MS, gone),
      watchMachine(record, over.signal),
      injectAll(schedule(seed, { duration, processes, ttl, between, kinds: plan.faults }), injector, over.signal),
    );
    ended = await untilEnd(began + duration, record, gone.signal, plan.signal, !others, () =>
      progress?.(progressNow()),
    );
  } finally {
    over.abort();
    await Promise.all(running);
    const mustEnd = began > 0 && ended !== 'server gone';
    hung = await crew.end(mustEnd ? MAX_END_MS : MAX_LOST_END_MS);
    if (!mustEnd) hung = [];
  }
  const ran = record.now() - began;
  const left = ended === 'server gone' ? [] : await clearKeys(locks, run, ttl).catch(() => undefined);
  if (left) for (const by of hung) record.add({ what: 'hung', by });
  for (const { key, label } of left ?? []) record.add({ what: 'remains', key, label });
  record.close();

  const faults = countFaults(record.history.disturbances.values());
  const lacking = missingEvidence(record.totals, faults);
  const outcome = Object.keys(record.broken).length > 0 ? 'broken' : lacking.length > 0 ? 'nothing' : 'kept';
  return {
    outcome,
    ...{ ended, missing: lacking, engine: backend.name, seed, ran, ttl, processes, faults },
    ...{ totals: record.totals, broken: record.broken, violations: record.violations, overslept: injector.overslept },
    ...{ staleWrites: crew.register.stale, staleRefused: crew.register.refused },
    notes: [
      ...notesOf(backend.traits, between !== 'nothing', ended, left === undefined, ttl),
      // Faults on purpose cause such errors, too, so in other verdicts they say nothing.
      ...(outcome === 'nothing' || ended === 'server gone' ? troubleOf(record.troubles) : []),
    ],
  };
}

async function refuseOthers(locks: Locks, engine: string): Promise<void> {
  const other = await firstEntry(locks);
  if (!other) return;
  const { key, label, held } = other;
  throw new LockError(
    'LOCK_INVALID',
    `${label} ${held ? 'holds' : 'waits for'} ${JSON.stringify(key)} on ${engine}; torture needs a server that nobody else uses. Add --beside-others if others may wait longer, or use another ?prefix=`,
    { key, backend: engine },
  );
}

/** The shortest of a few round trips, ms. Each `run` takes two. */
async function measureRoundTrip(locks: Locks, key: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < 5; tried++) {
    const began = performance.now();
    await locks.mutex(key).run(() => {});
    best = Math.min(best, (performance.now() - began) / 2);
  }
  return best;
}

/**
 * All kinds of locks that the engine supports, on few keys, so that all processes want the same keys.
 * @param busy the number of busy keys; two processes want each of them
 */
function testLocksOf(demand: Traits['units'], run: string, busy: number): TestLock[] {
  const testLock = (kind: TestLock['kind'], name: string, longPart: number): TestLock => ({
    ...{ kind, key: `${run}${name}`, permits: PERMITS, longPart },
  });
  return [
    testLock('mutex', 'quick', 0),
    ...Array.from({ length: busy }, (_, number) => ({ ...testLock('mutex', `busy-${number}`, 0), busy: true })),
    ...['slow-1', 'slow-2', 'slow-3'].map((name) => testLock('mutex', name, 0.3)),
    ...(demand === 'exclusive' ? [] : [testLock('rwLock', 'shared', 0.05)]),
    ...(demand === 'counted' ? [testLock('semaphore', 'counted', 0.05)] : []),
  ];
}

/** Starts each fault at its time, without waiting for earlier faults. */
async function injectAll(faults: Iterable<Fault>, injector: FaultInjector, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  const under: Promise<void>[] = [];
  for (const fault of faults) {
    const wait = began + fault.at - performance.now();
    await delay(wait, signal);
    if (signal.aborted) break;
    under.push(injector.inject(fault));
  }
  await Promise.all(under);
}

async function untilEnd(
  until: number,
  record: RunRecord,
  gone: AbortSignal,
  interrupted: AbortSignal | undefined,
  untilBroken: boolean,
  look: () => void,
): Promise<EndReason> {
  const signal = AbortSignal.any([gone, ...(interrupted ? [interrupted] : [])]);
  let pause = LOOK_INTERVAL_MS;
  while (!signal.aborted) {
    const remaining = until - record.now();
    if (remaining <= 0) return 'time';
    await delay(Math.min(pause, remaining), signal);
    const began = record.now();
    record.judge();
    pause = Math.max(LOOK_INTERVAL_MS, (record.now() - began) / MAX_JUDGING_PART);
    look();
    if (untilBroken && Object.keys(record.broken).length > 0) return 'broken';
  }
  return gone.aborted ? 'server gone' : 'interrupted';
}

function notesOf({ wakes, units }: Traits, links: boolean, ended: EndReason, unlisted: boolean, ttl: number): string[] {
  return [
    ...(links ? [] : ['a file has no connections, so only processes had faults']),
    ...(wakes === 'never' ? ['this engine wakes no waiters, so wake-ups were not judged'] : []),
    ...(units === 'counted'
      ? []
      : [
          `this engine has ${units === 'shared' ? 'no permits' : 'no readers and no permits'}, so they were not tested`,
        ]),
    ...(ended === 'server gone'
      ? [`what the run left on the server expires within ${inMs(Math.max(ttl * 1.5, 6_000))}`]
      : []),
    ...(unlisted && ended !== 'server gone' ? ['the run could not see what it left on the engine'] : []),
  ];
}

function troubleOf(troubles: ReadonlyMap<string, number>): string[] {
  const [most] = [...troubles].toSorted(([, one], [, other]) => other - one);
  return most ? [`${counted(most[1], 'request')} failed because the engine could not be asked: ${most[0]}`] : [];
}
