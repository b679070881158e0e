/** Answers are too short for words: `…` keeps a place in the line. */
export const ANSWERS = { yes: '✓', no: '✗', wait: '…' } as const;
