import type { EtcdConnection } from './options.ts';
import type { Watches } from './wake-ups.ts';
import { wordsNames } from './words-names.ts';

/** The pause before a watch that could not be set is tried again, ms. Meanwhile the claim asks by its own timer. */
const PAUSE = 1_000;

/** Calls `wake` each time words are left under the key, until the returned function is called. */
export async function listenForWords(
  { client, prefix, clock }: EtcdConnection,
  watches: Watches,
  key: string,
  wake: () => void,
): Promise<() => void> {
  const { left } = wordsNames(prefix, key);
  let isOver = false;
  let end = (): void => {};
  const arm = async (): Promise<void> => {
    const { header } = await client.range({ key: left, keysOnly: true });
    if (isOver) return;
    const stop = await watches.watch({ key: left, puts: true, from: header!.revision + 1n }, fired);
    if (isOver) stop();
    else end = stop;
  };
  const armAgain = (): void => {
    if (isOver) return;
    arm().then(wake, () => {
      wake();
      end = clock.after(PAUSE, armAgain, true);
    });
  };
  const fired = (): void => {
    end = () => {};
    armAgain();
  };
  await arm();
  return () => {
    isOver = true;
    end();
  };
}
