/** A term as the clock that all processes share saw it, in ms: from being elected until its leader stopped believing in it. */
export interface Reign {
  readonly token: bigint;
  readonly from: number;
  readonly to: number;
}

/** What is wrong with the terms of an election: two at a time, or a token that did not grow. */
export function overlaps(reigns: readonly Reign[]): string[] {
  const sorted = [...reigns].sort((a, b) => a.from - b.from);
  return sorted.flatMap((next, i) => {
    const before = sorted.slice(0, i).filter(({ to }) => to > next.from);
    const found = before.map(
      ({ token, to }) => `term ${next.token} began ${to - next.from} ms before the end of ${token}`,
    );
    const last = sorted[i - 1];
    if (last && last.token >= next.token) found.push(`term ${next.token} came after ${last.token}`);
    return found;
  });
}
