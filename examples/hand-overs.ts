import { subscribe } from 'node:diagnostics_channel';

/** From now on, how often somebody who waited in this process got the lock: what a service would put into its metrics. */
export function countHandOvers(): () => number {
  let waiting = 0;
  let handOvers = 0;
  const granted = (): void => {
    if (waiting === 0) return; // it was free
    waiting--;
    handOvers++;
  };
  subscribe('holdfast:waiting', () => waiting++);
  subscribe('holdfast:acquired', granted);
  subscribe('holdfast:handed-over', granted);
  return () => handOvers;
}
