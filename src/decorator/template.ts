import { counted, invalid, shown } from '../core/index.ts';

type Method = (...args: never[]) => unknown;

/** What we know of a function's parameters from its source text. */
interface Parameters {
  /** The names in order; undefined for a parameter without a name, such as a pattern. Empty if the source is not reliable. */
  readonly names: readonly (string | undefined)[];
  /** Whether there may be more parameters: a rest parameter, or a source that shows nothing (native, bound, wrapped, compiled for old engines). */
  readonly open: boolean;
}

const UNKNOWN: Parameters = { names: [], open: true };
/** Like `UNKNOWN`, for code that a minifier has written. It is compared by identity. */
const MINIFIED: Parameters = { ...UNKNOWN };
/** Comments and strings, in which brackets and commas mean nothing. */
const NOISE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g;
const ONE_BARE = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s=>/u;
/** A function with this word may take more arguments than it lists: a wrapper that forwards all arguments, or code compiled for old engines. */
const ARGUMENTS = /\barguments\b/;
/** One parameter: a name or a pattern, perhaps with a default. */
const PIECE = /^\s*(\.\.\.)?\s*(?:([\p{ID_Start}$_][\p{ID_Continue}$]*)|\{[\s\S]*\}|\[[\s\S]*\])\s*(?:=[\s\S]*)?$/u;
/** In a parameter list, a slash outside comments divides or begins a regular expression. Only a parser knows, so what follows may be misread. */
const OBSCURE = '/';

/** Reads the parameter list. Gives `UNKNOWN` for a list that needs a parser, and two parameters of one name; `MINIFIED` for code of a minifier. */
function parametersOf(fn: Method): Parameters {
  const source = Function.prototype.toString.call(fn);
  if (source.includes('[native code]')) return UNKNOWN;
  const text = source.replace(NOISE, plain);
  const bare = ONE_BARE.exec(text);
  if (bare) return { names: [bare[1]], open: false };
  const list = listOf(text);
  if (!list) return MINIFIED;
  const pieces = list.map((piece) => PIECE.exec(piece));
  if (pieces.includes(null) || list.join().includes(OBSCURE)) return UNKNOWN;
  const names = pieces.map((piece) => (piece![1] ? undefined : piece![2]));
  const known = names.filter((name) => name !== undefined);
  if (new Set(known).size < known.length) return UNKNOWN;
  return { names, open: ARGUMENTS.test(text) || pieces.some((piece) => piece![1]) };
}

/** Whether a minifier has written the source. A minifier gives many classes and functions the same name. */
export const isMinified = (fn: Method): boolean => parametersOf(fn) === MINIFIED;

/** Replaces a comment by a space, a string by an empty string, and a template string with code by `OBSCURE`, since the list is doubtful then. */
function plain(noise: string): string {
  if (noise.startsWith('/')) return ' ';
  return noise.startsWith('`') && noise.includes('${') ? OBSCURE : '""';
}

/**
 * Splits the text in the first outermost round brackets at its commas: `[computed(1)](a, b = [1, 2]) {` gives `a` and
 * `b = [1, 2]`. Undefined if no space follows the brackets: every compiler and formatter puts one there, and no
 * minifier does.
 */
function listOf(text: string): string[] | undefined {
  const pieces = [''];
  let depth = 0;
  let inside = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if ('([{'.includes(char) && ++depth === 1 && char === '(') {
      inside = true;
      continue;
    }
    if (')]}'.includes(char) && --depth === 0 && inside)
      return /\s/.test(text[at + 1] ?? '') ? pieces.filter((piece) => piece.trim() !== '') : undefined;
    if (!inside) continue;
    if (char === ',' && depth === 1) pieces.push('');
    else pieces[pieces.length - 1] += char;
  }
  return undefined;
}

export type KeyOf = (args: readonly unknown[]) => string;

const HOLE = /\{([^{}]*)\}/g;
const PATH = /^(\d+|[\p{ID_Start}$_][\p{ID_Continue}$]*)((?:\.[\p{ID_Continue}$]+)*)$/u;

/**
 * Makes keys from a template and a call's arguments. `{0}` is the first argument, `{0.id}` its property, `{order.id}` a property of the
 * parameter with this name in the source. Each value must be text, a number, a bigint or a boolean.
 * @param name the method's name, for messages
 * @throws LockError `LOCK_INVALID` for a single brace, or a placeholder without a parameter
 */
export function fromTemplate(template: string, method: Method, name: string): KeyOf {
  const parts = template.split(HOLE);
  if (parts.some((part, i) => i % 2 === 0 && /[{}]/.test(part)))
    throw invalid(
      `the template ${shown(template)} of ${name} has a brace that is not closed, or not opened; for a key with braces give a function`,
    );
  const holes = parts.map((part, i) => (i % 2 === 0 ? part : hole(part, method, name)));
  return (args) => holes.map((part) => (typeof part === 'string' ? part : part(args))).join('');
}

/** Makes keys without a template: the method's name and, if the call has one, the first argument. */
export function fromName(name: string): KeyOf {
  return (args) => (args.length === 0 ? name : `${name}:${textOf(args[0], '0', name)}`);
}

function hole(path: string, method: Method, name: string): KeyOf {
  const [, first, rest] = PATH.exec(path) ?? [];
  if (first === undefined)
    throw invalid(`{${path}} in the template of ${name} is no argument; write {0}, {0.id} or {order.id}`);
  const index = /^\d/.test(first) ? byNumber(Number(first), method, name) : byName(first, method, name);
  const properties = rest!.split('.').slice(1);
  return (args) => textOf(properties.reduce(read, args[index]), path, name);
}

function byNumber(index: number, method: Method, name: string): number {
  const { names, open } = parametersOf(method);
  if (index < names.length || open) return index;
  throw invalid(
    `{${index}} in the template of ${name} is missing: it has ${counted(names.length, 'parameter')}, counted from {0}`,
  );
}

function byName(parameter: string, method: Method, name: string): number {
  const index = parametersOf(method).names.indexOf(parameter);
  if (index >= 0) return index;
  throw invalid(
    `{${parameter}} in the template of ${name} is not the name of a parameter (minified or wrapped, perhaps); count them instead, from {0}, or give a function`,
  );
}

const read = (value: unknown, property: string): unknown =>
  value === undefined || value === null ? undefined : (value as Record<string, unknown>)[property];

function textOf(value: unknown, path: string, name: string): string {
  const plain =
    typeof value === 'number' ? Number.isFinite(value) : ['string', 'bigint', 'boolean'].includes(typeof value);
  if (plain && value !== '') return String(value);
  throw invalid(
    `{${path}} of a call to ${name} is ${shown(value)}, which makes no key; give a function of the arguments as the key`,
  );
}
