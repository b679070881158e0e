interface Hit {
  readonly id: string;
  readonly score: number;
}

/** What two parts of an index find, best first. The second one may not be there yet. */
export const bothOf = <T extends Hit>(
  first: { search(query: string): readonly T[] },
  later: () => { search(query: string): readonly T[] } | undefined,
): { search(query: string): T[] } => ({
  search: (query) => [...first.search(query), ...(later()?.search(query) ?? [])].sort((a, b) => b.score - a.score),
});
