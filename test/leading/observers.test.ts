import { expect } from 'vitest';
import { ALL, onEngines, TELLING, TTL } from './engines.ts';
import type { Instance, Stand } from './instance.ts';
import type { Told } from './leader.worker.ts';

const options = (label: string) => ({ ttl: TTL, label });

/** Hears of leaders until this one comes, or nobody. */
async function seenUntil(observer: Stand, label: string | undefined, election = 'seen'): Promise<Told[]> {
  const seen = [];
  do seen.push(await observer.heard('seen', election));
  while (seen.at(-1)!.label !== label);
  return seen;
}

onEngines(ALL, 'what is told of leaders', {
  async 'an observer misses neither the end of a term nor the next leader, and names none that was followed'(place) {
    const [a, b, c] = (await place.start(3)) as [Instance, Instance, Instance];
    const seen = new Map<unknown, Told[]>();
    await place.each([a, b, c], async (a, b, observer) => {
      await observer.observe('seen', 50);
      const told = await seenUntil(observer, undefined);
      await a.campaign('seen', options('first'));
      told.push(...(await seenUntil(observer, 'first')));
      await b.campaign('seen', options('second'));
      await a.stop('seen');
      told.push(...(await seenUntil(observer, 'second')));
      seen.set(observer, told);
    });
    await b.worker.kill();
    await place.each([c], async (observer) => {
      const told = [...seen.get(observer)!, ...(await seenUntil(observer, undefined))];
      // Of a quorum a vote that is nearly through is listed for a moment under a number that it does not keep.
      const isAgain = (of: Told, before?: Told): boolean => of.label === before?.label && of.token !== before?.token;
      const labels = told.filter((each, i) => !isAgain(each, told[i - 1])).map(({ label }) => label);
      expect(labels.filter((label) => label !== undefined)).toEqual(['first', 'second']);
      expect([labels[0], labels.at(-1)], 'before the first and after the last').toEqual([undefined, undefined]);
    });
  },

  async 'events come in order, after what they tell of'(place) {
    const instances = (await place.start(2)) as [Instance, Instance];
    await place.each(instances, async (a, b) => {
      const election = `told ${Math.random()}`; // the events name the election, not the engine
      await a.tellEvents(election);
      // When it resigns the other one shall be there first, also where nobody stands in line.
      await a.campaign(election, { ...options('first'), pause: { pause: TTL, jitter: 0 } });
      const first = await a.heard('elected', election);
      const events = [await a.heard('event', election)]; // asked and answered before the resignation
      await b.campaign(election, options('second'));
      await a.resign(election);
      const next = await b.heard('elected', election);
      await b.stop(election);
      const again = await a.heard('elected', election);
      expect(again.token).toBeGreaterThan(next.token!);
      for (let i = 0; i < 2; i++) events.push(await a.heard('event', election));
      expect(events.map(({ name, token, why }) => [name, token, why])).toEqual([
        ['elected', first.token, undefined],
        ['ended', first.token, 'resigned'],
        ['elected', again.token, undefined],
      ]);
      expect(events[0]!.current, 'who is told as elected leads').toBe(first.token);
      expect(events[1]!.current, 'who is told as ended leads no more').not.toBe(first.token);
      expect(events[2]!.current).toBe(again.token);
    });
  },
});

/** ms after which only a question at the slowest rate could show a change. */
const RARELY = 60_000;

onEngines(TELLING, 'an observer that asks once a minute', {
  async 'hears of a leader and of its end at once, where the engine tells of changes'(place) {
    const [candidate, observer] = (await place.start(2)) as [Instance, Instance];
    await place.each([candidate, observer], async (candidate, observer) => {
      await observer.observe('told', RARELY);
      await seenUntil(observer, undefined, 'told');
      await candidate.campaign('told', options('first'));
      await seenUntil(observer, 'first', 'told');
      await candidate.stop('told');
      await seenUntil(observer, undefined, 'told');
    });
  },

  async 'hears of it after its link was cut'(place) {
    const [candidate, observer] = (await place.start(2)) as [Instance, Instance];
    await place.each([candidate, observer], async (candidate, observer) => {
      await observer.observe('cut', RARELY);
      await seenUntil(observer, undefined, 'cut');
      for (const link of observer.links) link.cut();
      await candidate.campaign('cut', options('first'));
      await seenUntil(observer, 'first', 'cut');
    });
  },
});
