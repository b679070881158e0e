/** A doc comment in its parts. */

export interface Part {
  /** Undefined of what stands before the first tag. */
  readonly tag: string | undefined;
  readonly text: string;
}

/** Tags begin small. A decorator in an example does not. */
export const partsOf = (doc: string): Part[] =>
  doc.split(/^(?=@[a-z]+\b)/m).map((part) => {
    const [, tag, text = ''] = /^@(\w+)\s+([\s\S]*)$/.exec(part.trim()) ?? [];
    return tag === undefined ? { tag, text: part.trim() } : { tag, text };
  });

/** The code of its examples, which may stand in a fence. */
export const examplesIn = (doc: string): string[] =>
  partsOf(doc).flatMap(({ tag, text }) => (tag === 'example' ? [text.replace(/^```\w*\n|\n```$/g, '')] : []));
