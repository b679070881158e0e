import { createHash } from 'node:crypto';

/** What Node names: another name there is another program. */
const BUILT_IN = new Set(
  [globalThis, Object, Array, Map, Set, WeakMap, String, Number, BigInt, Math, Promise, Symbol, Date, Buffer, Error]
    .flatMap((it) => [it, (it as { prototype?: object }).prototype ?? {}])
    .flatMap((it) => Object.getOwnPropertyNames(it)),
);
const KEYWORDS = new Set(
  'as async await break case catch class const continue default delete do else extends false finally for from function get if import in instanceof is let new null of readonly return satisfies set static super switch this throw true try type typeof undefined unknown using void while yield'.split(
    ' ',
  ),
);
const REGEX = String.raw`(?<=[(,=:[!&|?{};>]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[a-z]*`;
const TEXT = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|${'`'}(?:[^${'`'}\\]|\\[\s\S])*${'`'}`;
const COMMENT = String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*`;
const TYPESCRIPT = new RegExp(String.raw`${COMMENT}|${TEXT}|${REGEX}|\d[\w.]*|#?[A-Za-z_$][\w$]*|\S`, 'g');
const SCRIPT = /--[^\n]*|'(?:[^'\\\n]|\\.)*'|\w+|\S/g;

/** The tokens of a text without comments. Names of ours are numbered, so that a new name changes nothing. */
function tokensOf(text: string, typescript: boolean, names: Map<string, number>): string {
  const tokens = text.match(typescript ? TYPESCRIPT : SCRIPT) ?? [];
  const kept = tokens.filter((token) => !/^(\/\*|\/\/|--.)/.test(token));
  return kept
    .map((token) => {
      const word = token.replace('#', '');
      if (!typescript || !/^[A-Za-z_$]/.test(word) || KEYWORDS.has(word) || BUILT_IN.has(word)) return token;
      if (!names.has(word)) names.set(word, names.size);
      return `_${names.get(word)}`;
    })
    .join(' ')
    .replace(/, (?=[)\]}])/g, '');
}

/**
 * What a mutant is, in six characters: the declaration, and the declaration with the change. It stays the same when the declaration
 * moves, gets another comment or another layout, or when a name of ours changes. Pure.
 */
export function identityOf(file: string, declaration: string, changed: string): string {
  const names = new Map<string, number>();
  const text = [declaration, changed].map((each) => tokensOf(each, /\.tsx?$/.test(file), names)).join('\n');
  return createHash('sha1').update(text).digest('base64url').slice(0, 6);
}

/** The place of a mutant: its file, its declaration, and its identity there. Two declarations may differ in names alone. */
export const placeOf = (id: string): string => /^(\S+ .{6}): /.exec(id)?.[1] ?? id;
