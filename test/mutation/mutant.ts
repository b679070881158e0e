import { identityOf } from './identity.ts';

/** One change of one place of the sources, that some test should notice. */
export interface Mutant {
  /** The file, the declaration, `identityOf`, and the change in words. */
  readonly id: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** In the file. */
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
  /**
   * `expression`: another one in its place. `guard`: a statement that is left out. `skip`: a block or a body that ends where it
   * begins. `text`: of a language that is no JavaScript.
   */
  readonly kind: 'expression' | 'guard' | 'skip' | 'text';
}

/** What a verdict is about: the text of a declaration, or of a script. */
export interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly start: number;
  readonly text: string;
}

export type Change = Pick<Mutant, 'start' | 'end' | 'to' | 'kind'>;

const WORD = /[^\s(),;{}]/;
const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return (line.length > 60 ? `${line.slice(0, 45)} … ${line.slice(-12)}` : line) || 'nothing';
};

/** In what two texts differ, in whole words. */
function difference(from: string, to: string): { readonly from: string; readonly to: string } {
  let at = 0;
  while (at < from.length && from[at] === to[at]) at++;
  while (at > 0 && WORD.test(from[at - 1]!)) at--;
  let same = 0;
  while (same < Math.min(from.length, to.length) - at && from.at(-1 - same) === to.at(-1 - same)) same++;
  while (same > 0 && WORD.test(from.at(-same)!)) same--;
  return { from: short(from.slice(at, from.length - same)), to: short(to.slice(at, to.length - same)) };
}

/** @param whole the text of the file */
export function mutantOf(whole: string, { file, name, start, text }: Declaration, change: Change): Mutant {
  const from = whole.slice(change.start, change.end);
  const line = whole.slice(0, change.start).split('\n').length;
  const within = change.start - start;
  const same = change.kind === 'guard' || change.kind === 'skip';
  const other = same ? { from: short(from), to: change.kind } : difference(from, change.to);
  // A body that ends where it begins is another mutant than one that is left out.
  const instead = change.kind === 'guard' ? '' : change.kind === 'skip' ? '{ }' : change.to;
  const identity = identityOf(file, text, text.slice(0, within) + instead + text.slice(within + from.length));
  const id = `${file}#${name} ${identity}: ${other.from} => ${other.to}`;
  return { id, file, line, from, ...change };
}
