import { expect } from 'vitest';
import { ALL, onEngines, TTL } from './engines.ts';
import type { Told } from './leader.worker.ts';
import { overlaps, type Reign } from './referee.ts';

/** ms that a leader needs to end its work. */
const WORK = 50;

onEngines(ALL, 'a rolling deployment of five instances', {
  async 'has a leader all the time but for hand-overs, and never two'(place) {
    const campaign = async (count: number) => {
      const started = await place.start(count);
      // One name, as containers have it.
      await place.each(started, async (...on) => {
        for (const stand of on) await stand.campaign('roll', { ttl: TTL, label: 'same' }, WORK);
      });
      return started;
    };
    const old = await campaign(5);
    const all = [...old];
    for (const instance of old) {
      all.push(...(await campaign(1)));
      expect(await instance.worker.end('SIGTERM')).toBe('ended with exit code 0');
    }
    await place.each(all, async (...on) => {
      // Whoever led has ended, but for one of the new ones.
      const told = async (stand: (typeof on)[number], what: Told['what']): Promise<Told[]> => {
        const found = [];
        for (;;) {
          const next = await stand.heard(what, 'roll', 1).catch(() => undefined);
          if (!next) return found;
          found.push(next);
        }
      };
      const reigns: Reign[] = [];
      for (const stand of on) {
        const [elected, settled] = [await told(stand, 'elected'), await told(stand, 'settled')];
        for (const [i, { token, at }] of elected.entries())
          reigns.push({ token: token!, from: at, to: settled[i]?.at ?? Number.POSITIVE_INFINITY });
      }
      reigns.sort((one, other) => one.from - other.from);
      expect(overlaps(reigns)).toEqual([]);
      expect(reigns.at(-1)!.to, 'somebody leads in the end').toBe(Number.POSITIVE_INFINITY);
      const gaps = reigns.slice(1).map(({ from }, i) => from - reigns[i]!.to);
      expect(Math.max(0, ...gaps), 'ms without a leader').toBeLessThan(TTL);
    });
  },
});
