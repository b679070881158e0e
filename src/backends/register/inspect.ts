import type { Listing, Standing } from '../../core/contract/backend.ts';
import { headOf, nameOf } from './names.ts';

/** Reads under way at a time. */
const AT_ONCE = 16;

/** What a listing needs of a register. */
export interface Listed {
  /** Where the lines are. */
  readonly folder: string;
  names(prefix: string): AsyncIterable<string>;
  /** The key of what has this name, and its line. */
  standings(name: string): Promise<readonly Standing[]>;
}

/** All claims on keys that begin with `prefix`, or on that key. */
export async function* standings(
  { folder, names, standings }: Listed,
  prefix: string,
  { exact = false, progress }: Listing,
): AsyncIterable<Standing> {
  if (exact) {
    yield* (await standings(folder + nameOf(prefix))).filter(({ key }) => key === prefix);
    return;
  }
  let looked = 0;
  let batch: string[] = [];
  async function* read(): AsyncIterable<Standing> {
    for (const line of await Promise.all(batch.map(standings))) yield* line.filter(({ key }) => key.startsWith(prefix));
    looked += batch.length;
    progress?.(looked);
    batch = [];
  }
  for await (const name of names(folder + headOf(prefix))) {
    batch.push(name);
    if (batch.length >= AT_ONCE) yield* read();
  }
  yield* read();
}
