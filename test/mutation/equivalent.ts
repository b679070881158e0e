/** Mutants that no test can tell from the sources, or that change nothing that is promised: by their ids, and why. */
export const EQUIVALENT: Readonly<Record<string, string>> = {};
