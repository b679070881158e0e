import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, QueueEntry } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import type { Served } from '../simulation/history.ts';

/**
 * The memory backend of a server, and all that it does with claims. It is looked at before and after each call: what expires is
 * dropped when somebody asks.
 * @param engine the memory backend, sound or with a planted bug
 */
export function witnessed(clock: Clock, tell: (served: Served) => void, engine: typeof memory = memory): Backend {
  const backend = engine({ clock });
  /** In line, by id; labels of their own tell them apart in a listing. */
  const known = new Map<string, Pick<Served, 'label' | 'held'>>();
  /** What they are called by whoever made them, by id: a vote is found by this. */
  const labels = new Map<string, string>();
  const list = async (key: string): Promise<Map<string, QueueEntry>> => {
    const there = new Map<string, QueueEntry>();
    for await (const standing of backend.inspect!(key, { exact: true })) there.set(standing.label, standing);
    return there;
  };

  async function look(key: string, did: 'left' | 'expired'): Promise<void> {
    const there = await list(key);
    for (const [id, had] of known) if (!there.has(id) && known.delete(id)) tell({ did, id, ...had });
    for (const [id, { held }] of there) {
      const had = known.get(id);
      if (!had || had.held === held) continue;
      known.set(id, { ...had, held });
      tell({ did: 'admitted', id, ...had, held });
    }
  }

  return around(backend, {
    async attempt(claim) {
      const { key, id, label } = claim;
      labels.set(id, label);
      await look(key, 'expired');
      const answer = await backend.attempt({ ...claim, label: id });
      const stands = { id, label, held: false };
      if (!answer.granted && !claim.queue) tell({ did: 'refused', ...stands });
      else if (!known.has(id)) {
        known.set(id, stands);
        tell({ did: 'joined', ...stands });
      }
      await look(key, 'expired');
      return answer;
    },
    async renew(claims) {
      for (const { key } of claims) await look(key, 'expired');
      return backend.renew(claims);
    },
    async release(handle) {
      await look(handle.key, 'expired');
      const answer = await backend.release(handle);
      await look(handle.key, 'left');
      return answer;
    },
    async *inspect(...asked) {
      for await (const standing of backend.inspect!(...asked))
        yield { ...standing, label: labels.get(standing.label) ?? standing.label };
    },
  });
}
