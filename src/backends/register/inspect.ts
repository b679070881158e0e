import type { Standing } from '../../core/contract/backend.ts';

/** Reads under way at a time. */
const AT_ONCE = 16;

/**
 * The claims of all lines with these names.
 * @param read the claims of one line
 * @param progress told how many lines were read
 */
export async function* standings(
  names: AsyncIterable<string>,
  read: (name: string) => Promise<readonly Standing[]>,
  progress?: (looked: number) => void,
): AsyncIterable<Standing> {
  let looked = 0;
  const underWay: Promise<readonly Standing[]>[] = [];
  async function* first(): AsyncIterable<Standing> {
    yield* await underWay.shift()!;
    progress?.(++looked);
  }
  for await (const name of names) {
    const reading = read(name);
    reading.catch(() => {}); // it is told when its turn comes, if anybody still listens
    underWay.push(reading);
    if (underWay.length === AT_ONCE) yield* first();
  }
  while (underWay.length > 0) yield* first();
}
