/** What can be known of a function's parameters at run time: from its source text. */
export interface Parameters {
  /** In order; undefined where there is a pattern instead of a name. */
  readonly names: readonly (string | undefined)[];
  /** There may be more than these: a rest parameter, or a source that tells nothing (native, bound, wrapped, downlevelled). */
  readonly open: boolean;
}

const UNKNOWN: Parameters = { names: [], open: true };
/** Comments, and strings, whose brackets and commas mean nothing. */
const NOISE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g;
const ONE_BARE = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>/u;
/** What wraps a function takes its arguments by this, and so does what compilers make of defaults and of `async` for old engines. */
const ARGUMENTS = /\barguments\b/;
const PIECE = /^\s*(\.\.\.)?\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)?/u;

/** Reads the parameter list once. A minifier renames parameters; then the names are those it gave. */
export function parametersOf(fn: (...args: never[]) => unknown): Parameters {
  const source = Function.prototype.toString.call(fn);
  if (source.includes('[native code]')) return UNKNOWN;
  const text = source.replace(NOISE, (noise) => (noise.startsWith('/') ? ' ' : '""'));
  const bare = ONE_BARE.exec(text);
  if (bare) return { names: [bare[1]], open: false };
  const pieces = listOf(text)?.map((piece) => PIECE.exec(piece)!);
  if (!pieces) return UNKNOWN;
  return {
    names: pieces.map(([, rest, name]) => (rest ? undefined : name)),
    open: ARGUMENTS.test(text) || pieces.some(([, rest]) => rest),
  };
}

/** What stands between the commas of the first round brackets that are in no others: `[computed(1)](a, b = [1, 2])`. */
function listOf(text: string): string[] | undefined {
  const pieces = [''];
  let depth = 0;
  let inside = false;
  for (const char of text) {
    if ('([{'.includes(char) && ++depth === 1 && char === '(') {
      inside = true;
      continue;
    }
    if (')]}'.includes(char) && --depth === 0 && inside) return pieces.filter((piece) => piece.trim() !== '');
    if (!inside) continue;
    if (char === ',' && depth === 1) pieces.push('');
    else pieces[pieces.length - 1] += char;
  }
  return undefined;
}
