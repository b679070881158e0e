import { checkKey, invalid, shown } from '../core/index.ts';
import { type DecoratedMethod, placeOf } from '../decorator/place.ts';
import { type LeaderOptions, leaderPlan } from '../leading/options.ts';
import type { Term } from '../leading/term.ts';
import { addRole, around, type CandidateState, type LocksHost, type MethodPlace } from './host.ts';

type Method = (term: Term) => Promise<unknown>;

/** Decorates a method, as a standard decorator or a legacy one (`experimentalDecorators`). */
export interface LeadingDecorator {
  <M extends Method>(method: M, context: { readonly kind: 'method'; readonly name: string | symbol }): void;
  <M extends Method>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<M>): void;
}

/**
 * Runs the method while this instance of the application leads the election `name`. Each time the instance wins, the method gets
 * the new term. The method has to end when `term.signal` is aborted. The instance becomes a candidate when the application has started.
 * On shutdown first the method settles, then the dependencies of its class are destroyed. The class must be a provider or
 * controller that exists once.
 * @throws LockError `LOCK_INVALID`, when the class is made
 * @example
 * ```ts
 * import type { Term } from 'holdfast';
 * class Feed {
 *   @Leading('feed', { ttl: '15s' })
 *   async follow(term: Term): Promise<void> {
 *     while (!term.signal.aborted) await work(term.token, term.signal);
 *   }
 * }
 * ```
 */
export function Leading(name: string, options: LeaderOptions = {}): LeadingDecorator {
  leaderPlan(checkKey(name, 'the name of an election'), {}, options); // wrong options throw now, not at the start
  return ((...decorated: unknown[]) => {
    const { method }: DecoratedMethod = placeOf(decorated, '@Leading');
    addRole(method, { decorator: '@Leading', prepare: (host, place) => stand(host, place, name, options) });
  }) as LeadingDecorator;
}

const OVERDUE_MS = 10_000;

/** Makes the object a candidate from its start to its end. */
function stand(host: LocksHost, { owner, method, title }: MethodPlace, name: string, options: LeaderOptions): void {
  const { candidates, locks, logger, work } = host;
  const other = candidates.find((candidate) => candidate.name === name);
  if (other)
    throw invalid(
      `${title} and ${other.title} have one name, ${shown(name)}, so that only one of them would lead; name them apart`,
    );
  const onError = (error: unknown) =>
    logger.error(`${title} failed while it led ${name}; it will be elected again`, stackOf(error));
  const leader = locks.leader(name, options.autoCampaign === false ? options : { onError, ...options });
  /** The term whose method runs. `ended`: when its signal was aborted, by `performance.now()`. */
  let current: { ended?: number } | undefined;
  const lead = async (term: Term): Promise<void> => {
    const own: { ended?: number } = {};
    current = own;
    term.signal.addEventListener('abort', () => (own.ended = performance.now()), { once: true });
    try {
      await owner[method]!(term);
    } finally {
      current = undefined;
    }
  };
  const campaign = (): Promise<void> =>
    leader.run(lead, { signal: work.stopped }).catch((error) => {
      logger.error(`${title} does not stand for election of ${name} any more`, stackOf(error));
    });
  candidates.push({ name, title, state: () => stateOf(current) });
  around(owner, 'onApplicationBootstrap', async (own) => {
    await own();
    if (!work.stopped.aborted) void work.run(owner, campaign);
  });
}

function stateOf(term: { ended?: number } | undefined): CandidateState {
  if (!term) return 'waiting';
  if (term.ended === undefined) return 'leading';
  return performance.now() - term.ended > OVERDUE_MS ? 'overdue' : 'waiting';
}

const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : String(error));
