import type { Backend, Standing } from '../../src/core/contract/backend.ts';

/** Who holds a key, and who waits for it. */
export async function standing(engine: Backend, key: string): Promise<Standing[]> {
  const all: Standing[] = [];
  for await (const each of engine.inspect!(key, { exact: true })) all.push(each);
  return all;
}
