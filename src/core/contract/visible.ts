/**
 * Makes text that may be shown to people. It writes control characters, and characters that change the direction of text, in the form `\u001b`.
 * So the name of a key cannot control a terminal, or make a page show another text.
 */
export const visible = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
  text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, unicodeEscape);

const unicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Prints tokens as text, as a lease does, because JSON has no bigint. */
const asText = {
  toJSON(this: object): object {
    const shown = Object.entries(this).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]);
    return Object.fromEntries(shown) as object;
  },
};

/** Copies plain data, so that `JSON.stringify` accepts the copy also if it has a `bigint`. */
export const printable = <T extends object>(data: T): T => Object.assign(Object.create(asText) as object, data);
