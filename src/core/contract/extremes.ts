/**
 * Gives the least of the numbers. `Math.min(...numbers)` would put all of them on the stack of V8, and some 120,000 of them overflow that stack.
 * @param start the result is at most this
 */
export function leastOf(numbers: Iterable<number>, start: number = Number.POSITIVE_INFINITY): number {
  let least = start;
  for (const each of numbers) least = Math.min(least, each);
  return least;
}

/**
 * Gives the greatest of the numbers.
 * @param start the result is at least this
 */
export function mostOf(numbers: Iterable<number>, start: number = Number.NEGATIVE_INFINITY): number {
  let most = start;
  for (const each of numbers) most = Math.max(most, each);
  return most;
}
