import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { LINKED, onEngines, type Place, TTL } from './engines.ts';
import type { Instance } from './instance.ts';

/** ms in which a request surely arrives, and less than a lease. */
const UNHEARD = 400;

/** Of what is said in a resignation one thing vanishes. */
async function resigns(place: Place, election: string, lost: 'answer' | 'request'): Promise<void> {
  const instances = (await place.start(2)) as [Instance, Instance];
  await place.each(instances, async (a, b) => {
    await a.campaign(election, { ttl: TTL, label: 'first' });
    const { token } = await a.heard('elected', election);
    await b.campaign(election, { ttl: TTL, label: 'second' });
    if (lost === 'answer') a.deaf();
    else a.cutOff();
    const resigned = a.resign(election);
    const settled = await a.heard('settled', election);
    await sleep(UNHEARD);
    await a.reconnect();
    expect(await resigned, 'there was a term to end').toBe(true);
    const next = await Promise.race([a.heard('elected', election), b.heard('elected', election)]);
    expect(next.token).toBeGreaterThan(token!);
    expect(next.at - settled.at, 'ms without a leader').toBeLessThan(TTL * 3);
  });
}

onEngines(LINKED, 'what is lost on the way', {
  async 'of a campaign, its answer, leaves no ghost that leads, and no term that nobody ends'(place) {
    const instances = (await place.start(2)) as [Instance, Instance];
    await place.each(instances, async (a, b) => {
      await a.current('campaign'); // it is connected
      a.deaf();
      await a.campaign('campaign', { ttl: TTL, label: 'first' });
      await sleep(UNHEARD);
      await a.reconnect();
      const elected = await a.heard('elected', 'campaign');
      expect((await b.current('campaign'))?.token).toBe(elected.token);
      await b.campaign('campaign', { ttl: TTL, label: 'second' });
      await a.stop('campaign');
      const [settled, next] = [await a.heard('settled', 'campaign'), await b.heard('elected', 'campaign')];
      expect(next.token).toBeGreaterThan(elected.token!);
      expect(next.at, 'two at a time').toBeGreaterThan(settled.at);
    });
  },
  'of a resignation, its answer, leaves no term without a leader': (place) => resigns(place, 'unanswered', 'answer'),
  'of a resignation, the request, leaves no term without a leader': (place) => resigns(place, 'unsent', 'request'),
});
