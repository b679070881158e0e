import { styleText } from 'node:util';

/** One line on standard error. */
export const complain = (message: string): void =>
  console.error(`${styleText('red', 'holdfast:', { stream: process.stderr })} ${visible(message)}`);

/** Text as it may be shown: what others named their keys must not steer the terminal. */
export const visible = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
