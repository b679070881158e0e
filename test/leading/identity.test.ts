import { expect } from 'vitest';
import { until } from '../kit/wait.ts';
import { ALL, onEngines, TTL } from './engines.ts';
import type { Instance } from './instance.ts';
import type { Told } from './leader.worker.ts';

/** Containers of one deployment have one name, and a name is no identity. */
const options = { ttl: TTL, label: 'scheduler-0' };

onEngines(ALL, 'instances of one name', {
  async 'are told apart: who comes back takes neither the place nor the term of another for its own'(place) {
    const [a, b, c] = (await place.start(3)) as [Instance, Instance, Instance];
    const terms = new Map<unknown, Told>();
    await place.each([a, b], async (a, b) => {
      await a.campaign('name', options);
      const first = await a.heard('elected', 'name');
      await b.campaign('name', options);
      // Who reconnects, leader or candidate, is who it was.
      await Promise.all([a.reconnect(), b.reconnect()]);
      await until('the leader is seen', async () => (await b.current('name'))?.token === first.token);
      terms.set(a, first);
    });
    a.worker.pause();
    await place.each([a, b, c], async (a, b, c) => {
      const next = await b.heard('elected', 'name');
      expect(next.token).toBeGreaterThan(terms.get(a)!.token!);
      terms.set(b, next);
      await c.campaign('name', options); // as a container that was started anew in its place
    });
    a.worker.resume();
    await place.each([a, b], async (a, b) => {
      const ended = await a.heard('ended', 'name');
      expect(ended.token).toBe(terms.get(a)!.token);
      expect(terms.get(b)!.at, 'two at a time').toBeGreaterThan(ended.until!);
      expect((await b.current('name'))?.token, 'the one that came back took the term').toBe(terms.get(b)!.token);
    });
    await b.worker.kill();
    await place.each([a, b, c], async (a, b, c) => {
      const next = await Promise.race([a.heard('elected', 'name'), c.heard('elected', 'name')]);
      expect(next.token, 'an old term was entered again').toBeGreaterThan(terms.get(b)!.token!);
    });
  },
});
