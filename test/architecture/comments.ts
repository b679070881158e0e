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

/** The comments of Lua and SQL, each block as one line. */
const dashedOf = (text: string): string[] =>
  [...text.matchAll(/(?:^[ \t]*--.*\n?)+|--.*$/gm)].map(([block]) => block.replace(/^\s*-- ?/gm, ' ').trim());

/** The texts of a source in which a word between blanks stands: what people read, and not names. */
const messagesOf = (text: string): string[] =>
  [...text.matchAll(/'([^'\n]*\s[^'\n]*)'|`([^`\n]*\s[^`\n]*)`/g)].map(([, plain, template]) => plain ?? template!);

/** The comments of a source, each as one line. */
function commentsOf(text: string): string[] {
  const blocks = [...text.matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\//gm)].map(([, body]) =>
    body!.replace(/^\s*\* ?/gm, ''),
  );
  const lines = [...text.matchAll(/(?:^|\s)\/\/ (.*)$/gm)].map(([, body]) => body!);
  return [...blocks, ...lines].map((comment) => comment.replace(/\s+/g, ' ').trim());
}

const unclearWords = (text: string): string[] =>
  Object.entries(WORDS)
    .filter(([word]) => new RegExp(`\\b${word}\\b`, 'i').test(text))
    .map(([word, plain]) => `"${word}" in "${text}"; say it plainly: ${plain}`);

/** What a reader stumbles over in the comments and messages of a source, a line each. */
export function unclear(text: string, path: string): string[] {
  if (/\.(lua|sql)$/.test(path)) return dashedOf(text).flatMap(unclearWords);
  const messages = /^(src|products)\//.test(path) ? messagesOf(text) : [];
  return [...messages.flatMap(unclearWords), ...commentsOf(text).flatMap(unclearComment)];
}

function unclearComment(comment: string): string[] {
  return [
    ...unclearWords(comment),
    ...BEGINNINGS.filter((word) => comment.startsWith(`${word} `)).map(
      (word) => `a comment that begins with "${word}" has no subject: "${comment}"`,
    ),
  ];
}
