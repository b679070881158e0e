import { expect } from 'vitest';
import { ALL, DELAYING, onEngines, TTL } from './engines.ts';
import type { Instance } from './instance.ts';

const first = { ttl: TTL, label: 'first' };
const second = { ttl: TTL, label: 'second' };

onEngines(ALL, 'a leader', {
  async 'that is told to stop is followed at once; one that gets SIGTERM when its work has ended, never before'(place) {
    const [a, b] = (await place.start(2)) as [Instance, Instance];
    await place.each([a, b], async (a, b) => {
      await a.campaign('stop', first);
      const { token } = await a.heard('elected', 'stop');
      await b.campaign('stop', second, 700);
      expect(await b.current('stop')).toMatchObject({ label: 'first', token });
      await a.stop('stop');
      const [settled, next] = [await a.heard('settled', 'stop'), await b.heard('elected', 'stop')];
      expect(next.token).toBeGreaterThan(token!);
      expect(next.at, 'two at a time').toBeGreaterThan(settled.at);
      expect(next.at - settled.at, 'ms without a leader').toBeLessThan(TTL);
      expect(await a.current('stop')).toMatchObject({ label: 'second' });
      await a.campaign('stop', first);
    });
    expect(await b.worker.end('SIGTERM')).toBe('ended with exit code 0');
    await place.each([a, b], async (a, b) => {
      const [settled, next] = [await b.heard('settled', 'stop'), await a.heard('elected', 'stop')];
      expect(settled.held, 'its lease goes on until the work has ended').toBe(true);
      expect(next.at, 'two at a time').toBeGreaterThan(settled.at);
      expect(next.at - settled.at, 'ms without a leader').toBeLessThan(TTL);
      await a.stop('stop');
      expect(await a.current('stop')).toBeNull();
    });
  },

  async 'that is stopped past its lease ends its term as it goes on, and stands again; one that is killed is followed after its lease'(
    place,
  ) {
    const [a, b] = (await place.start(2)) as [Instance, Instance];
    await place.each([a, b], async (a, b) => {
      await a.campaign('pause', first);
      await a.heard('elected', 'pause');
      await b.campaign('pause', second);
    });
    a.worker.pause();
    const next = new Map<unknown, { at: number; token: bigint }>();
    await place.each([b], async (b) => {
      const { at, token } = await b.heard('elected', 'pause');
      next.set(b, { at, token: token! });
    });
    a.worker.resume();
    await place.each([a, b], async (a, b) => {
      const ended = await a.heard('ended', 'pause');
      expect(ended.held).toBe(false);
      expect(next.get(b)!.token).toBeGreaterThan(ended.token!);
      expect(next.get(b)!.at, 'two at a time').toBeGreaterThan(ended.until!);
    });
    await b.worker.kill();
    await place.each([a, b], async (a, b) => {
      expect((await a.heard('elected', 'pause')).token).toBeGreaterThan(next.get(b)!.token);
    });
  },
});

onEngines(DELAYING, 'a leader', {
  async 'that expired is followed no sooner than its delay after the deadline; one that was stopped, at once'(place) {
    const delay = 800; // of a session it is a part; else it comes on top
    const options = { ttl: TTL, delay, label: 'same' };
    const [a, b] = (await place.start(2)) as [Instance, Instance];
    await place.each([a, b], async (a, b) => {
      await a.campaign('delay', options);
      await a.heard('elected', 'delay');
      await b.campaign('delay', options);
    });
    a.worker.pause();
    const elected = new Map<unknown, number>();
    await place.each([b], async (b) => void elected.set(b, (await b.heard('elected', 'delay')).at));
    a.worker.resume();
    await place.each([a, b], async (a, b) => {
      const ended = await a.heard('ended', 'delay');
      expect(ended.held).toBe(false);
      expect(elected.get(b)! - ended.until!, 'ms from the deadline').toBeGreaterThanOrEqual(delay - 1);
      await b.stop('delay');
      const [settled, last] = [await b.heard('settled', 'delay'), await a.heard('elected', 'delay')];
      expect(last.at - settled.at, 'ms without a leader').toBeLessThan(delay);
    });
  },
});
