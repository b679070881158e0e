import { visible } from '../../../src/core/contract/visible.ts';

/**
 * Makes a word that a POSIX shell takes as it is: in single quotes no character has a meaning. Characters that must
 * not be shown (`visible`) are made by `printf`, of octal bytes; newlines at the very end, which a shell drops there, stand apart.
 */
export function shellWord(text: string): string {
  if (visible(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  const [body = '', ends = ''] = text.split(/(\n+)$/);
  // A quoted newline is the one invisible character that no terminal takes for a command.
  return `"$(printf '${[...body].map(octal).join('')}')"${ends && `'${ends}'`}`;
}

function octal(character: string): string {
  if (/^[\w./:@+, ]$/.test(character) || (character > '\u00ff' && visible(character) === character)) return character;
  return [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** Gives the key as the last argument of a command, where a key that begins with a dash is no option, either. */
export const lastArgument = (key: string): string => `${key.startsWith('-') ? '-- ' : ''}${shellWord(key)}`;
