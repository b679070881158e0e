import { expect } from 'vitest';
import { ALL, onEngines, TTL } from './engines.ts';
import type { Told } from './leader.worker.ts';
import { overlaps, type Reign } from './referee.ts';

/** ms in which a successor is elected, on a machine that is busy with others. */
const PATIENT = 15_000;

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
      const told = async (stand: (typeof on)[number], what: Told['what']): Promise<Told[]> => {
        const found = [];
        for (;;) {
          const next = await stand.heard(what, 'roll', 1).catch(() => undefined);
          if (!next) return found;
          found.push(next);
        }
      };
      const [elected, settled]: [Told[], Told[]] = [[], []];
      // The last of the old ones has ended. Its successor may not have been elected yet.
      const until = performance.now() + PATIENT;
      while (elected.length === settled.length && performance.now() < until) {
        for (const stand of on) {
          settled.push(...(await told(stand, 'settled')));
          elected.push(...(await told(stand, 'elected')));
        }
      }
      const ends = new Map(settled.map(({ token, at }) => [token, at]));
      const reigns = elected.map(
        ({ token, at }): Reign => ({ token: token!, from: at, to: ends.get(token) ?? Number.POSITIVE_INFINITY }),
      );
      reigns.sort((one, other) => one.from - other.from);
      expect(overlaps(reigns)).toEqual([]);
      expect(reigns.at(-1)!.to, 'somebody leads in the end').toBe(Number.POSITIVE_INFINITY);
      const gaps = reigns.slice(1).map(({ from }, i) => from - reigns[i]!.to);
      expect(Math.max(0, ...gaps), 'ms without a leader').toBeLessThan(TTL);
    });
  },
});
