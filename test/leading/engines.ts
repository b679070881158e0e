import { afterAll, afterEach, beforeAll, describe, test } from 'vitest';
import { chosenEngines, whyNot } from '../kit/selection.ts';
import { Instance, type Stand } from './instance.ts';
import { type LeadingEngine, SITES, type Site } from './sites.ts';

export { ALL, DELAYING, LINKED, TELLING, TTL } from './sites.ts';

export interface Place {
  /** So many processes, each of which is there on every engine. */
  start(count: number): Promise<Instance[]>;
  /** On all engines at once, each for itself: they mostly wait for leases to be over. An error names its engine. */
  each(instances: readonly Instance[], check: (...on: Stand[]) => Promise<void>): Promise<void>;
}

/** Laws that hold on every one of the engines. One process stands for election on all of them, so that it is killed once for all. */
export function onEngines(
  engines: readonly LeadingEngine[],
  title: string,
  laws: Readonly<Record<string, (place: Place) => Promise<void>>>,
): void {
  const able = engines.filter((engine) => whyNot(engine, chosenEngines(process.env.BACKENDS)) === undefined);
  const sites = new Map<LeadingEngine, Site>();
  let started: Instance[] = [];

  const place: Place = {
    async start(count) {
      const instances: Instance[] = [];
      for (let i = 0; i < count; i++) instances.push(await Instance.start(sites));
      started.push(...instances);
      return instances;
    },
    async each(instances, check) {
      const checked = able.map((engine) =>
        check(...instances.map((instance) => instance.on(engine))).catch((error: unknown) => {
          throw Object.assign(error as Error, { message: `on ${engine}: ${(error as Error).message}` });
        }),
      );
      await Promise.allSettled(checked); // so that none is under way when the test has failed
      await Promise.all(checked);
    },
  };

  describe.skipIf(able.length === 0)(`${title}, on ${able.join(', ')}`, () => {
    beforeAll(async () => {
      for (const engine of able) sites.set(engine, await SITES[engine]());
    });
    afterAll(async () => {
      for (const site of sites.values()) await site[Symbol.asyncDispose]();
    });
    afterEach(async () => {
      const ended = started.map((instance) => instance[Symbol.asyncDispose]());
      started = [];
      await Promise.allSettled(ended); // all of them, before one may fail it
      await Promise.all(ended);
    });
    for (const [law, check] of Object.entries(laws)) test(law, { timeout: 60_000 }, () => check(place));
  });
}
