import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { openBackend } from '../../src/connect/open.ts';
import { ALL_UNITS } from '../../src/core/contract/admission.ts';
import { type Backend, type Claim, PLACE_TTL_MS } from '../../src/core/contract/backend.ts';
import { chosenEngines, whyNot } from '../kit/selection.ts';
import { until } from '../kit/wait.ts';
import { SITES, type Site } from '../leading/sites.ts';

/** Longer than a place lives that asks for nothing, and shorter than one that asks for this. ms. */
const SILENCE = PLACE_TTL_MS + 1_500;
const ASKED = 10_000;

let ids = 0;
const claim = (key: string, more: Partial<Claim> = {}): Claim => {
  const id = `${Date.now().toString(16)}${(++ids).toString(16)}`.padStart(32, '0');
  const demand = { units: ALL_UNITS, capacity: ALL_UNITS, readWrite: true } as const;
  return { key, id, ...demand, ttl: 60_000, queue: true, tokenCount: 1, within: 5_000, label: 'place', ...more };
};

/** One that holds, one that waits behind it and asked for a long place, and one more behind that. */
async function lined(backend: Backend, key: string) {
  const [holder, patient, next] = [claim(key), claim(key, { placeTtl: ASKED }), claim(key)] as const;
  expect(await backend.attempt(holder), key).toMatchObject({ granted: true });
  for (const each of [patient, next]) expect(await backend.attempt(each), key).toMatchObject({ granted: false });
  const alive = setInterval(() => void backend.attempt(next).catch(() => {}), PLACE_TTL_MS / 4);
  return { holder, patient, next, [Symbol.dispose]: () => clearInterval(alive) };
}

const ENGINES = ['memory', 'file', 'postgres', 'etcd'] as const;
const able = ENGINES.filter(
  (each) => each === 'memory' || whyNot(each, chosenEngines(process.env.BACKENDS)) === undefined,
);

// All at once: they mostly wait.
describe.concurrent('a place that asks for a longer life', () => {
  const sites: Site[] = [];
  const backends = new Map<string, Backend>();

  beforeAll(async () => {
    for (const engine of able) {
      const site = engine === 'memory' ? undefined : await SITES[engine]();
      if (site) sites.push(site);
      backends.set(engine, site ? await openBackend(site.url) : memory());
    }
  });
  afterAll(async () => {
    for (const backend of backends.values()) await backend.close();
    for (const site of sites) await site[Symbol.asyncDispose]();
  });

  test.each(able)('is admitted after a silence that would have cost another one its place, on %s', async (engine) => {
    const backend = backends.get(engine)!;
    using line = await lined(backend, 'silent');
    await sleep(SILENCE);
    await backend.release(line.holder);
    expect(await backend.attempt(line.next), 'the one behind it').toMatchObject({ granted: false });
    expect(await backend.attempt(line.patient)).toMatchObject({ granted: true });
  });

  test.each(able)('is passed over when it was silent for longer than it asked for, on %s', async (engine) => {
    const backend = backends.get(engine)!;
    using line = await lined(backend, 'dead');
    await sleep(ASKED + 500);
    await backend.release(line.holder);
    const granted = async (): Promise<boolean> => (await backend.attempt(line.next)).granted;
    await until('the one behind it is admitted', granted, 6_000);
  });
});
