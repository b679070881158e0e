import { listOf, unsupported } from '../../src/core/index.ts';
import { type Locks, runtimeOf } from '../../src/locks.ts';
import { type MemoSight, sightOf } from '../../src/memo/state.ts';

/** What the engine remembers of one key; undefined if nothing. @param held whether the key is held */
export const memoAt = (locks: Locks, key: string, held: boolean): Promise<MemoSight | undefined> =>
  sightOf(runtimeOf(locks, 'memos').engine, key, held);

/**
 * The memos of which the engine remembers something, in the order of their keys.
 * @param most how many memos are returned at most
 * @throws LockError `LOCK_UNSUPPORTED` if the engine cannot list them
 */
export async function memosOf(
  locks: Locks,
  prefix: string,
  {
    most = Number.POSITIVE_INFINITY,
    progress,
  }: { readonly most?: number; readonly progress?: (looked: number) => void },
): Promise<(readonly [key: string, sight: MemoSight])[]> {
  const { engine } = runtimeOf(locks, 'memos');
  if (!engine.backend.values?.keys) throw unsupported(engine.backend, 'list what memos keep');
  const found: [string, MemoSight][] = [];
  for await (const key of engine.remembered(prefix, progress)) {
    const claims = await listOf(locks.inspect(key, { exact: true }));
    const held = claims.some((claim) => claim.held);
    const sight = await memoAt(locks, key, held);
    if (sight) found.push([key, sight]); // else it was forgotten meanwhile
    if (found.length >= most) break;
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}
