import { visible } from '../../../src/core/contract/visible.ts';

/**
 * Quotes a text as one word of a POSIX shell. In single quotes no character has a special meaning. If the text has characters that
 * must not be shown (`visible`), `printf` makes them from octal bytes. `$(…)` drops newlines at the end, so they are added after it.
 */
export function shellWord(text: string): string {
  if (visible(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  const [body = '', ends = ''] = text.split(/(\n+)$/);
  // A quoted newline is the only invisible character that is safe to paste into a terminal.
  return `"$(printf '${[...body].map(octal).join('')}')"${ends && `'${ends}'`}`;
}

function octal(character: string): string {
  if (/^[\w./:@+, ]$/.test(character) || (character > '\u00ff' && visible(character) === character)) return character;
  return [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** The key as the last argument of a command. With `--`, a key that begins with a dash is not read as an option. */
export const lastArgument = (key: string): string => `${key.startsWith('-') ? '-- ' : ''}${shellWord(key)}`;
