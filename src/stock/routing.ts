import { hash } from 'node:crypto';

/** 64 bits that are the same in every process and on every machine. */
const digest = (text: string): bigint => BigInt(`0x${hash('sha1', text).slice(0, 16)}`);

/**
 * A number below `size` for a name, evenly spread; when `size` grows by one, only one name in `size` moves.
 * Jump consistent hash: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014.
 */
export function homeOf(name: string, size: number): number {
  let key = digest(name);
  let home = 0;
  for (let next = 0; next < size; ) {
    home = next;
    key = BigInt.asUintN(64, key * 2862933555777941757n + 1n);
    next = Math.floor((home + 1) * (2 ** 31 / (Number(key >> 33n) + 1)));
  }
  return home;
}

/** Where a name lived before, when there were other numbers of segments; what it had is still there. */
export function formerHomes(name: string, sizes: readonly number[]): number[] {
  const homes = new Set(sizes.map((size) => homeOf(name, size)));
  homes.delete(homeOf(name, sizes.at(-1)!));
  return [...homes];
}

/** `units` over `size` segments as evenly as whole units allow, `reserve` (a share of 0 to 1) kept back. */
export function spread(units: number, size: number, reserve: number): { reserve: number; segments: number[] } {
  const kept = Math.floor(units * reserve);
  const each = Math.floor((units - kept) / size);
  const more = (units - kept) % size;
  return { reserve: kept, segments: Array.from({ length: size }, (_, i) => each + (i < more ? 1 : 0)) };
}
