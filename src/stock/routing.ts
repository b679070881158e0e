/** Spreads 32 bits: the finalizer of MurmurHash3, Austin Appleby, 2011. */
function mix(bits: number): number {
  let mix = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** 32 bits, the same in every process and on every machine: FNV-1a, by Fowler, Noll and Vo. The text is ASCII. */
function digest(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  return bits;
}

/** What is added to the seed for each number: 2³² divided by the golden ratio, as in SplitMix. */
const STEP = 0x9e3779b9;

/**
 * A number below `size` for a name. Names are spread evenly; when `size` grows by one, only one name in `size` moves.
 * Jump consistent hash: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014. With arithmetic of 32 bits,
 * since every sale needs it.
 */
export function homeOf(name: string, size: number): number {
  let seed = digest(name);
  let home = 0;
  for (let next = 0; next < size; ) {
    home = next;
    seed = (seed + STEP) | 0;
    next = Math.floor(((home + 1) * 2 ** 32) / (mix(seed) + 1));
  }
  return home;
}

/** The segments of a name under earlier numbers of segments. What it had is still there. */
export function formerHomes(name: string, sizes: readonly number[]): number[] {
  const homes = new Set(sizes.map((size) => homeOf(name, size)));
  homes.delete(homeOf(name, sizes.at(-1)!));
  return [...homes];
}

/** Spreads `units` over `size` segments as evenly as whole units allow. @param reserve the share to keep back, 0 to 1 */
export function spread(units: number, size: number, reserve: number): { reserve: number; segments: number[] } {
  const kept = Math.floor(units * reserve);
  const each = Math.floor((units - kept) / size);
  const more = (units - kept) % size;
  return { reserve: kept, segments: Array.from({ length: size }, (_, i) => each + (i < more ? 1 : 0)) };
}
