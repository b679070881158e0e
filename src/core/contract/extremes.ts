/**
 * The least of so many numbers as there are. `Math.min` takes them as arguments, and V8 puts these on the stack, which ends at some
 * 120,000.
 * @param start what it is at most
 */
export function leastOf(numbers: Iterable<number>, start: number = Number.POSITIVE_INFINITY): number {
  let least = start;
  for (const each of numbers) least = Math.min(least, each);
  return least;
}

/**
 * The most of so many numbers as there are.
 * @param start what it is at least
 */
export function mostOf(numbers: Iterable<number>, start: number = Number.NEGATIVE_INFINITY): number {
  let most = start;
  for (const each of numbers) most = Math.max(most, each);
  return most;
}
