import { expect } from 'vitest';
import { LINKED, onEngines, TTL } from './engines.ts';
import type { Instance } from './instance.ts';

onEngines(LINKED, 'a leader that is cut off', {
  async 'is told before the next one leads, ends its work, and stands for election again'(place) {
    const instances = (await place.start(2)) as [Instance, Instance];
    await place.each(instances, async (a, b) => {
      await a.campaign('cut', { ttl: TTL, label: 'first' }, TTL * 2);
      const before = await a.heard('elected', 'cut');
      await b.campaign('cut', { ttl: TTL, label: 'second' });
      a.cutOff();
      const [ended, next] = [await a.heard('ended', 'cut'), await b.heard('elected', 'cut')];
      expect(ended.token).toBe(before.token);
      expect(next.at, 'two at a time').toBeGreaterThan(Math.max(ended.at, ended.until!));
      await a.reconnect();
      await b.stop('cut'); // now nothing keeps the first one from leading but its own work
      const [settled, again] = [await a.heard('settled', 'cut'), await a.heard('elected', 'cut')];
      expect(again.token).toBeGreaterThan(next.token!);
      expect(again.at, 'a term began while the function of the last one worked').toBeGreaterThan(settled.at);
    });
  },
});
