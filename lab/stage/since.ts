/** What is done at 1014.1 ms has to be seen at 1014.1 ms, and not a rounding error later. */
export const since = (now: number, origin: number): number => Math.round((now - origin) * 1e6) / 1e6;
