import assert from 'node:assert/strict';
import { type Backend, isLockError, type Lease, type LockError, type LockErrorCode } from '../../../src/core/index.ts';
import type { Locks } from '../../../src/locks.ts';
import { around } from '../around.ts';
import type { Law } from '../case.ts';
import type { Scene } from '../scene.ts';

/**
 * Gives the error with which `work` must fail.
 * @param code a function if the right code is known only after the failure
 */
export async function fails(
  work: () => unknown,
  code: LockErrorCode | (() => LockErrorCode),
  what = 'this',
): Promise<LockError> {
  const due = (): LockErrorCode => (typeof code === 'function' ? code() : code);
  try {
    await work();
  } catch (error) {
    const expected = due();
    if (isLockError(error, expected)) return error;
    throw new assert.AssertionError({ message: `${what} must fail with ${expected}, but failed with ${error}` });
  }
  return assert.fail(`${what} must fail with ${due()}, and did not`);
}

/** Checks that another caller of this lock gets nothing. */
export const isTaken = async (lock: { tryAcquire(): Promise<unknown> }, why: string): Promise<void> =>
  assert.equal(await lock.tryAcquire(), null, why);

/** Waits for releases in the background (`awaitRelease: false`, or a linger). */
export async function arrived(scene: Scene): Promise<void> {
  const { awaitRelease = true, handOff } = scene.subject.options ?? {};
  if (!awaitRelease || (typeof handOff === 'object' && handOff.linger)) await scene.isFree();
}

/** After each of these laws the key must be free. */
export const leavingNothing = (laws: readonly Law[]): Law[] =>
  laws.map(({ check, ...law }) => ({
    ...law,
    async check(scene) {
      await check(scene);
      await scene.isFree();
    },
  }));

/** The answers that a process got about a key so far. */
export interface Listening {
  readonly locks: Locks;
  refusals(): number;
  /** The right code if a wait ends now: `LOCK_TIMEOUT` if the last call was answered, `LOCK_UNAVAILABLE` if it failed or none was answered. */
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

/**
 * Waits for the loss signal and checks that it comes once.
 * @returns whether it came before the end of the lease: two timers fire in their order, even after the process stood still
 */
export async function toldOfLoss(scene: Scene, lease: Lease): Promise<boolean> {
  let told = 0;
  let [over, inTime] = [false, false];
  const end = (): void => {
    over = true;
  };
  const cancel = Number.isFinite(lease.remaining) ? scene.clock.after(lease.remaining, end) : end;
  const loss = new Promise<void>((resolve) => {
    lease.signal.addEventListener('abort', () => {
      told++;
      inTime = !over;
      cancel();
      resolve();
    });
  });
  await scene.soon(loss, 'the loss signal');
  await fails(() => Promise.reject(lease.signal.reason), 'LOCK_LOST', 'the reason of the signal');
  await scene.expired();
  assert.equal(told, 1, 'times the loss was told');
  return inTime;
}
