import { type Duration, LONGEST, milliseconds } from '../core/contract/duration.ts';
import { isLockError, shown } from '../core/contract/errors.ts';
import { whole } from '../core/contract/options.ts';
import { StockError } from './errors.ts';

/** Longest name of a product, buyer or request, in bytes of UTF-8. Encoded, it still fits into an index of every engine. */
const MAX_NAME_BYTES = 128;
/** A sum of so many stays exact in a double, and in the JSON that Lua writes. */
export const MAX_UNITS = 1_000_000_000;
export const MAX_SEGMENTS = 1_000;

const invalid = (message: string): StockError => new StockError('STOCK_INVALID', message);

/** Checks a name and encodes it for the engine. */
export function checkName(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') {
    throw invalid(`${what} is ${shown(value)}; it must be a string that is not empty`);
  }
  if (!value.isWellFormed()) throw invalid(`${what} ${shown(value)} is not well-formed Unicode`);
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_NAME_BYTES)
    throw invalid(`${what} ${shown(value)} has ${bytes} bytes; at most ${MAX_NAME_BYTES} are allowed`);
  return encodeURIComponent(value);
}

/** What the checks of locks refuse, as an error of stock. */
function asStockError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw isLockError(error) ? invalid(error.message) : error;
  }
}

export function checkCount(value: unknown, what: string, min: number, max: number): number {
  return asStockError(() => whole(value, what, min, max));
}

export function checkShare(value: unknown, what: string): void {
  if (typeof value === 'number' && value >= 0 && value <= 1) return;
  throw invalid(`${what} is ${shown(value)}; it must be a share from 0 to 1`);
}

export function checkDuration(value: Duration, what: string): number {
  return asStockError(() => Math.ceil(milliseconds(value, what, { min: 1, max: LONGEST })));
}

/** So that a misspelt option, or one that is null by mistake, is not silently without effect. */
export function checkOptions(options: object, known: readonly string[], of: string): void {
  if (typeof options !== 'object' || options === null) throw invalid(`${of} takes an object of options`);
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) throw invalid(`${of} has no option ${shown(name)}; there are ${known.join(', ')}`);
    if (value === null) throw invalid(`${name} of ${of} is null; give a value or leave it out`);
  }
}
