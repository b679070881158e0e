/** Of each, what it breaks; the quick ones, since the others need a fault. `npm run prove -- torture` finds all of them on all engines. */
export const FOUND: Readonly<Record<string, RegExp>> = {
  // Two that were granted at once have one token: where their times do not overlap by much, that shows first, and ends the search.
  'grants twice': /exclusion|tokens/,
  'gives tokens twice': /tokens/,
  'drops wake-ups': /wake-ups/,
  'lets readers in beside a writer': /exclusion/,
  'gives a permit too many': /exclusion/,
};
