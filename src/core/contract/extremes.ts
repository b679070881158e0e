/**
 * Gives the least of any number of numbers. `Math.min` takes arguments, which V8 puts on the stack: some 120,000 of them overflow it.
 * @param start the result is at most this
 */
export function leastOf(numbers: Iterable<number>, start: number = Number.POSITIVE_INFINITY): number {
  let least = start;
  for (const each of numbers) least = Math.min(least, each);
  return least;
}

/**
 * Gives the greatest of any number of numbers.
 * @param start the result is at least this
 */
export function mostOf(numbers: Iterable<number>, start: number = Number.NEGATIVE_INFINITY): number {
  let most = start;
  for (const each of numbers) most = Math.max(most, each);
  return most;
}
