import { file } from '../../src/backends/file/index.ts';
import { createLocks } from '../../src/index.ts';

/**
 * The turn of a run of proof on this machine: two at once starve each other's processes, and that looks like slow engines that break a promise.
 * If the process dies, its turn is over.
 * @param path the locks file of all runs
 * @returns undefined while another run has the turn
 */
export async function turnOfProof(path: string): Promise<AsyncDisposable | undefined> {
  const locks = createLocks(file({ path }));
  const turn = await locks.mutex('proof').tryAcquire();
  if (!turn) {
    await locks.close();
    return undefined;
  }
  return {
    async [Symbol.asyncDispose]() {
      await turn.release();
      await locks.close();
    },
  };
}
