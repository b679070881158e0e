/** Repeats `step`, such as `() => clock.advance(1)`, until the work has ended. @returns what comes of it */
export async function stepUntilEnd<T>(work: Promise<T>, step: () => Promise<unknown>): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  while (!over) await step();
  return work;
}
