import { expect } from 'vitest';
import { LINKED, onEngines, TTL } from './engines.ts';
import type { Instance } from './instance.ts';

onEngines(LINKED, 'a candidate whose place is gone', {
  async 'holds nobody up, leads nothing when it comes back, and stands in line again'(place) {
    const instances = (await place.start(3)) as [Instance, Instance, Instance];
    await place.each(instances, async (a, b, c) => {
      await a.campaign('gone', { ttl: TTL, label: 'first' });
      const first = await a.heard('elected', 'gone');
      await b.campaign('gone', { ttl: TTL, label: 'second' });
      expect((await b.current('gone'))?.token, 'it stands behind the leader').toBe(first.token);
      b.cutOff();
      await c.campaign('gone', { ttl: TTL, label: 'third' });
      expect((await c.current('gone'))?.token).toBe(first.token);
      await a.stop('gone');
      const next = await c.heard('elected', 'gone'); // when the place of the second one has expired
      await b.reconnect();
      await c.stop('gone');
      const [settled, last] = [await c.heard('settled', 'gone'), await b.heard('elected', 'gone')];
      expect(last.token).toBeGreaterThan(next.token!);
      expect(last.at, 'two at a time').toBeGreaterThan(settled.at);
      expect(await c.current('gone')).toMatchObject({ label: 'second', token: last.token });
    });
  },
});
