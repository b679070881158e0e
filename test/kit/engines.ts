import { existsSync } from 'node:fs';
import { type EngineName, ENGINES as REGISTRY } from '../../src/connect/registry.ts';
import type { EngineRow } from './engine-row.ts';

const rowOf = async (name: string): Promise<EngineRow> => {
  if (!existsSync(new URL(`../backends/${name}/engine.ts`, import.meta.url)))
    throw new Error(
      `test/backends/${name}/engine.ts is missing: it has what the tests know of ${name}, as EngineRow says`,
    );
  return (await import(`../backends/${name}/engine.ts`)).engine;
};

/** The engines that `BACKENDS=…` chooses from: those of the registry, in its order. */
export const ENGINES: Readonly<Record<EngineName, EngineRow>> = Object.fromEntries(
  await Promise.all(Object.keys(REGISTRY).map(async (name) => [name, await rowOf(name)])),
);
