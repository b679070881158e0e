/** What the source text of a function tells about its parameters. */
export interface Parameters {
  /** The names in order; undefined for a pattern. Empty if the names are not reliable. */
  readonly names: readonly (string | undefined)[];
  /** There may be more parameters: a rest parameter, or a source that tells nothing (native, bound, wrapped, downlevelled). */
  readonly open: boolean;
}

const UNKNOWN: Parameters = { names: [], open: true };
/** Comments and strings: brackets and commas in them mean nothing. */
const NOISE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g;
const ONE_BARE = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s=>/u;
/** Wrappers pass arguments on by this word. So do compilers, for defaults and for `async` on old engines. */
const ARGUMENTS = /\barguments\b/;
/** A name or a pattern, possibly with a default. */
const PIECE = /^\s*(\.\.\.)?\s*(?:([\p{ID_Start}$_][\p{ID_Continue}$]*)|\{[\s\S]*\}|\[[\s\S]*\])\s*(?:=[\s\S]*)?$/u;
/**
 * In a parameter list, outside comments: the start of a regular expression, or a division. Only a parser can tell them apart,
 * so the text after it may be misread.
 */
const OBSCURE = '/';

/**
 * Reads the parameter list once. It gives up on all doubtful cases: a list that needs a parser, two parameters with one name,
 * and code from a minifier, which renames parameters, to `b` for example.
 */
export function parametersOf(fn: (...args: never[]) => unknown): Parameters {
  const source = Function.prototype.toString.call(fn);
  if (source.includes('[native code]')) return UNKNOWN;
  const text = source.replace(NOISE, plain);
  const bare = ONE_BARE.exec(text);
  if (bare) return { names: [bare[1]], open: false };
  const list = listOf(text);
  const pieces = list?.map((piece) => PIECE.exec(piece));
  if (!pieces || pieces.includes(null) || list!.join().includes(OBSCURE)) return UNKNOWN;
  const names = pieces.map((piece) => (piece![1] ? undefined : piece![2]));
  const known = names.filter((name) => name !== undefined);
  if (new Set(known).size < known.length) return UNKNOWN;
  return { names, open: ARGUMENTS.test(text) || pieces.some((piece) => piece![1]) };
}

/** Whether a minifier has written the source, which gives many classes and functions the same name. */
export function isMinified(fn: (...args: never[]) => unknown): boolean {
  const source = Function.prototype.toString.call(fn);
  const text = source.replace(NOISE, plain);
  return !source.includes('[native code]') && !ONE_BARE.test(text) && listOf(text) === undefined;
}

/** Replaces noise: a comment by a space, a string by an empty one, and a template with code in it by the mark for doubt. */
function plain(noise: string): string {
  if (noise.startsWith('/')) return ' ';
  return noise.startsWith('`') && noise.includes('${') ? OBSCURE : '""';
}

/**
 * The parts between the commas of the first outermost round brackets: `[computed(1)](a, b = [1, 2])`. Undefined if no space
 * follows the brackets: every compiler and formatter puts one there, and no minifier does.
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
    if (')]}'.includes(char) && --depth === 0 && inside) {
      return /\s/.test(text[at + 1] ?? '') ? pieces.filter((piece) => piece.trim() !== '') : undefined;
    }
    if (!inside) continue;
    if (char === ',' && depth === 1) pieces.push('');
    else pieces[pieces.length - 1] += char;
  }
  return undefined;
}
