import type { Backend, LockErrorCode } from '../../core/index.ts';
import type { Locks } from '../../locks.ts';
import { around } from '../around.ts';
import type { Scene } from '../scene.ts';

/** What a process was told about a key so far. */
export interface Listening {
  readonly locks: Locks;
  refusals(): number;
  /** The outcome of a wait that ends now: a timeout where the engine said no at last, and not where it has said nothing yet or failed. */
  code(): LockErrorCode;
}

export async function listening(scene: Scene, key: string = scene.key): Promise<Listening> {
  const client = await scene.another();
  let refusals = 0;
  let answered = false;
  const attempt: Backend['attempt'] = async (claim) => {
    if (claim.key !== key) return client.attempt(claim);
    try {
      const answer = await client.attempt(claim);
      if (!answer.granted && !answer.late) refusals++;
      answered ||= answer.granted || !answer.late;
      return answer;
    } catch (error) {
      answered = false;
      throw error;
    }
  };
  const locks = await scene.locks({}, around(client, { attempt }));
  return { locks, refusals: () => refusals, code: () => (answered ? 'LOCK_TIMEOUT' : 'LOCK_UNAVAILABLE') };
}
