import {
  checkListable,
  checkNames,
  checkWaitersListed,
  type Listing,
  type LockRuntime,
  MAX_PLACE_TTL_MS,
  namesOf,
  printable,
  type QueueEntry,
} from '../core/index.ts';
import { type ClaimQueues, queuesAmong, queuesOf, type WaitsClaim } from './claims.ts';
import { type Deadlock, deadlocksIn } from './deadlocks.ts';
import { edgesAmong, type WaitsEdge } from './edges.ts';
import { entriesOf } from './neighbourhood.ts';
import { CONFIRM_MS, Suspects } from './suspects.ts';

/** The claims that wait and what they wait for, as plain data. JSON shows the tokens as text. */
export interface Waits {
  /** All claims of keys that somebody waits for. */
  readonly claims: readonly WaitsClaim[];
  /** Which of these claims waits for which other one. */
  readonly edges: readonly WaitsEdge[];
  /** Deadlocks that later looks have confirmed. */
  readonly deadlocks: readonly Deadlock[];
}

/** Options of `waits`. */
export type WaitsOptions = Pick<Listing, 'progress'>;

const OPTIONS = namesOf<WaitsOptions>({ progress: true });

/** @internal */
export async function waitsOf(runtime: LockRuntime, prefix: string, listing: WaitsOptions): Promise<Waits> {
  const { backend } = runtime.engine;
  checkNames(listing, OPTIONS, 'the options of waits');
  checkListable(backend, prefix);
  checkWaitersListed(backend, 'see who holds with inspect()');
  const queues = await lookAtAll(runtime, prefix, listing);
  return {
    claims: [...queues.claims.values()].map(printable),
    edges: edgesAmong(queues, new Set(queues.claims.keys())),
    deadlocks: await confirm(runtime, queues, deadlocksIn(queues)),
  };
}

/** Lists all keys that begin with `prefix`, and adds what this process knows of them. */
async function lookAtAll(runtime: LockRuntime, prefix: string, listing: Listing): Promise<ClaimQueues> {
  const found: QueueEntry[][] = [];
  let queue: QueueEntry[] = [];
  const keep = (): void => {
    if (queue.some(({ held }) => !held) || runtime.isWaitedFor(queue[0]?.key ?? '')) found.push(queue);
  };
  for await (const entry of runtime.engine.inspect(prefix, listing)) {
    if (entry.key !== queue[0]?.key) {
      keep();
      queue = [];
    }
    queue.push(entry);
  }
  keep();
  return queuesOf(found.flat(), runtime.localEntries());
}

/** The longest time until a living process gives a sign of life, ms: a waiter renews its place three times in the longest life of a place. */
const MAX_SIGN_OF_LIFE_MS = MAX_PLACE_TTL_MS / 3 + 2 * CONFIRM_MS;

/** Looks at some deadlocks again until each is confirmed or gone, or the time is over. */
async function confirm(
  runtime: LockRuntime,
  queues: ClaimQueues,
  deadlocks: readonly Deadlock[],
): Promise<readonly Deadlock[]> {
  if (deadlocks.length === 0) return [];
  const { clock, activity } = runtime.engine;
  const suspects = new Suspects();
  const first = new Set(deadlocks.flatMap(({ claims }) => claims));
  let keys = [...new Set([...first].map((id) => queues.claims.get(id)!.key))];
  for (const until = clock.now() + MAX_SIGN_OF_LIFE_MS; ; keys = suspects.keys) {
    const began = clock.now();
    const all = queuesOf(await entriesOf(runtime, keys), runtime.localEntries(keys));
    const moment = { began, ended: clock.now() };
    // The result has the claims of the first look, so only deadlocks among these may be in it.
    const found = suspects.look(queuesAmong(all, [first])[0]!, () => moment, runtime.name.word);
    if (!suspects.open || clock.now() >= until || activity.over) return found;
    await activity.pause(CONFIRM_MS);
  }
}
