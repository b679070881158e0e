/** What can be known of a function's parameters at run time: from its source text. */
export interface Parameters {
  /** In order; undefined where there is a pattern instead of a name. Empty where the names cannot be trusted. */
  readonly names: readonly (string | undefined)[];
  /** There may be more than these: a rest parameter, or a source that tells nothing (native, bound, wrapped, downlevelled). */
  readonly open: boolean;
}

const UNKNOWN: Parameters = { names: [], open: true };
/** Comments, and strings, whose brackets and commas mean nothing. */
const NOISE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g;
const ONE_BARE = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s=>/u;
/** What wraps a function takes its arguments by this, and so does what compilers make of defaults and of `async` for old engines. */
const ARGUMENTS = /\barguments\b/;
/** A name or a pattern, with a default perhaps. */
const PIECE = /^\s*(\.\.\.)?\s*(?:([\p{ID_Start}$_][\p{ID_Continue}$]*)|\{[\s\S]*\}|\[[\s\S]*\])\s*(?:=[\s\S]*)?$/u;
/**
 * In a list of parameters, beside comments: the beginning of a regular expression, or a division. To tell them apart takes a
 * parser; what comes after may have been read wrongly.
 */
const OBSCURE = '/';

/**
 * Reads the parameter list once. What is not certain is not known: a list that takes more than this to read, two parameters
 * of one name, and what a minifier has made, which gives the parameters names of its own, `b` for one.
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

/** Without what is noise: a comment is a space, a string is empty, and one that has code in it is obscure. */
function plain(noise: string): string {
  if (noise.startsWith('/')) return ' ';
  return noise.startsWith('`') && noise.includes('${') ? OBSCURE : '""';
}

/**
 * What stands between the commas of the first round brackets that are in no others: `[computed(1)](a, b = [1, 2])`. Undefined
 * where no space follows them: every compiler and formatter puts one there, and no minifier does.
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
