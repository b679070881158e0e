import { ALL_SEATS, EXCLUSIVE, isExclusive, type Seats, SHARED } from '../../core/admission.ts';
import type { Claim } from '../../core/backend.ts';

/**
 * The names of Curator's recipes, so that its locks and ours stand in one line: `_c_<guid>-`, then `lock-` (a mutex) or
 * `__WRIT__` or `__READ__` (a read-write lock), then the number that the server appends. Permits, of which Curator has no
 * recipe in this layout, name their seats before `lock-`: `_c_<guid>-2of5-lock-`.
 */
const NAME = /^(?:_c_(.+?)-)?(?:(\d{1,10})of(\d{1,10})-)?(lock-|__READ__|__WRIT__)(-?\d{9,10})$/;
/** What any sequential node ends in. */
const NUMBER = /\d{10}$/;

/** One node of a line. */
export interface Member extends Seats {
  readonly name: string;
  /** The number the server gave: a signed 32-bit counter of the parent, which wraps. */
  readonly number: number;
}

/** The id in the form of a UUID, as Curator has it: it is how an own node is found again when the reply was lost. */
function guid(id: string): string {
  const form = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id);
  return form ? form.slice(1).join('-') : encodeURIComponent(id);
}

export const isOf = (id: string, name: string): boolean => name.startsWith(`_c_${guid(id)}-`);

/** The name to create, to which the server appends the number. */
export const nameOf = (claim: Claim): string => `_c_${guid(claim.id)}-${kindOf(claim)}`;

function kindOf({ take, of, readWrite }: Claim): string {
  if (take === ALL_SEATS && of === ALL_SEATS) return readWrite ? '__WRIT__' : 'lock-';
  if (take === SHARED.take && of === SHARED.of) return '__READ__';
  return `${take}of${of}-lock-`;
}

/**
 * The line, in order. A sequential node with any other name takes all: its owner may mean anything by it. A child without
 * a number has no place in a line and is nobody's claim.
 */
export function lineOf(names: readonly string[]): Member[] {
  const line = names.map(member).filter((found) => found !== undefined);
  // As serial numbers (RFC 1982): right across the wrap as long as the line is shorter than 2³¹.
  return line.sort((a, b) => (a.number - b.number) | 0);
}

function member(name: string): Member | undefined {
  const [, , take, of, kind, number] = NAME.exec(name) ?? [];
  if (!kind) {
    const foreign = NUMBER.exec(name);
    return foreign ? { name, number: Number(foreign[0]) | 0, ...EXCLUSIVE } : undefined;
  }
  return { name, number: Number(number) | 0, ...seats(kind, Number(take), Number(of)) };
}

function seats(kind: string, take: number, of: number): Seats {
  if (kind === '__READ__') return SHARED;
  const sound = kind === 'lock-' && take >= 1 && take <= of && of <= ALL_SEATS;
  return sound ? { take, of } : EXCLUSIVE;
}

/** Waits its turn among permits: neither one of a crowd of readers nor alone at the head. */
export const isPermit = (seats: Seats): boolean => !isExclusive(seats) && seats.of !== ALL_SEATS;
