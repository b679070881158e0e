import { meaning } from './errors.ts';
import { digits } from './layout.ts';
import type { Resends } from './resends.ts';
import { EVICT } from './scripts.generated.ts';
import type { Shards } from './shards.ts';

/** Removes the claim with this token, a portion of the line at a time. @returns the last reply of lua/evict.lua */
export async function evict(
  shards: Shards,
  resends: Resends,
  key: string,
  token: bigint,
  remember: number,
): Promise<string> {
  for (let place = ''; ; ) {
    const request = { key, args: [digits(token), place, `${remember}`] };
    const ask = async (): Promise<string> => String(await shards.askOne(EVICT, request));
    place = await resends
      .once(ask, (reply) => reply !== '0')
      .catch((error) => {
        throw meaning(error, 'evict', key);
      });
    if (!place.startsWith('h')) return place;
  }
}
