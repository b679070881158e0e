/** Words that say less than they seem to, each with what says it plainly. */
const WORDS: Readonly<Record<string, string>> = {
  whoever: 'a caller, a process, the next holder',
  whomever: 'a caller, a process',
  whosoever: 'a caller, a process',
  whatever: 'any, every, also if',
  anew: 'again',
};

/** A sentence has a subject: what begins so has none. */
const BEGINNINGS = ['Of', 'Beside', 'Whose'];

/** The comments of a source, each as one line. */
function commentsOf(text: string): string[] {
  const blocks = [...text.matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\//gm)].map(([, body]) =>
    body!.replace(/^\s*\* ?/gm, ''),
  );
  const lines = [...text.matchAll(/(?:^|\s)\/\/ (.*)$/gm)].map(([, body]) => body!);
  return [...blocks, ...lines].map((comment) => comment.replace(/\s+/g, ' ').trim());
}

/** What a reader stumbles over in the comments of a source, a line each. */
export function unclear(text: string): string[] {
  return commentsOf(text).flatMap((comment) => [
    ...Object.entries(WORDS)
      .filter(([word]) => new RegExp(`\\b${word}\\b`, 'i').test(comment))
      .map(([word, plain]) => `"${word}" in "${comment}"; say it plainly: ${plain}`),
    ...BEGINNINGS.filter((word) => comment.startsWith(`${word} `)).map(
      (word) => `a comment that begins with "${word}" has no subject: "${comment}"`,
    ),
  ]);
}
