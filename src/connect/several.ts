import { LockError } from '../core/contract/errors.ts';
import type { OpenEngine } from './engine.ts';
import { withConnectLimit } from './engine.ts';

/** Several engines as one: a quorum. It is reached when a majority of them is. */
export async function several(opening: readonly Promise<OpenEngine>[]): Promise<OpenEngine> {
  const results = await Promise.allSettled(opening);
  const nodes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  try {
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    const { quorum } = await import('../backends/quorum/index.ts');
    const reached = majorityReached(nodes);
    reached.catch(() => {}); // the caller waits for it
    return { backend: quorum(nodes.map(({ backend }) => backend)), reached };
  } catch (error) {
    await Promise.allSettled(nodes.map(({ backend }) => withConnectLimit(backend.close())));
    throw error;
  }
}

/** Settles as soon as a majority is reached, or cannot be. */
function majorityReached(nodes: readonly OpenEngine[]): Promise<void> {
  const needed = Math.floor(nodes.length / 2) + 1;
  return new Promise((resolve, reject) => {
    let reached = 0;
    const failures: Error[] = [];
    for (const node of nodes) {
      node.reached.then(
        () => ++reached === needed && resolve(),
        (error: Error) => {
          failures.push(error);
          if (nodes.length - failures.length === needed - 1) reject(tooFew(nodes.length, needed, failures));
        },
      );
    }
  });
}

const tooFew = (count: number, needed: number, failures: readonly Error[]): LockError =>
  new LockError(
    'LOCK_UNAVAILABLE',
    `${needed} of ${count} servers are needed, and these could not be reached: ${failures.map(({ message }) => message).join('; ')}`,
    { cause: new AggregateError(failures) },
  );
