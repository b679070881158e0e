import type { Backend } from '../../core/backend.ts';
import type { LockErrorCode } from '../../core/errors.ts';
import type { Locks } from '../../locks.ts';
import { around } from '../around.ts';
import type { Scene } from '../scene.ts';

/** What a process was told about a key so far. */
export interface Listening {
  readonly locks: Locks;
  refusals(): number;
  /** Of a wait that ends now: a timeout where the engine has said no, and not where it has said nothing yet. */
  code(): LockErrorCode;
}

export async function listening(scene: Scene, key: string = scene.key): Promise<Listening> {
  const client = await scene.another();
  let refusals = 0;
  const attempt: Backend['attempt'] = async (claim) => {
    const answer = await client.attempt(claim);
    if (claim.key === key && !answer.granted && !answer.late) refusals++;
    return answer;
  };
  const locks = await scene.locks({}, around(client, { attempt }));
  return { locks, refusals: () => refusals, code: () => (refusals > 0 ? 'LOCK_TIMEOUT' : 'LOCK_UNAVAILABLE') };
}
