import type { Entry } from './trace.ts';

/** How often the next function is one of another file. */
export const movesOf = (way: readonly Entry[]): number =>
  way.filter(({ file }, at) => at > 0 && way[at - 1]!.file !== file).length;

/** The way as text: a line for each stay in a file. */
export function drawn(way: readonly Entry[]): string {
  let text = '';
  let last: string | undefined;
  for (const { file, name } of way) {
    text += file === last ? `, ${name}` : `\n${file}: ${name}`;
    last = file;
  }
  return text.trimStart();
}
