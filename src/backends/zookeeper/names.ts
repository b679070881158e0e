import { ALL_UNITS, type Claim, checkPrefix, type Demand, EXCLUSIVE, SHARED } from '../../core/index.ts';

/**
 * The names of Curator's recipes, so that its locks and ours stand in one queue: `_c_<guid>-`, then `lock-` (a mutex) or `__WRIT__` or
 * `__READ__` (a read-write lock), then the number that the server appends. Curator has no recipe for permits in this layout. Our
 * permits have their units before `lock-`: `_c_<guid>-2of5-lock-`.
 */
const NAME = /^(?:_c_(.+?)-)?(?:(\d{1,10})of(\d{1,10})-)?(lock-|__READ__|__WRIT__)(-?\d{9,10})$/;
/** The end of the name of every sequential node. */
const NUMBER = /\d{10}$/;

export interface ClaimNode extends Demand {
  readonly name: string;
  /** The number that the server has appended: a signed 32-bit counter of the parent, which wraps. */
  readonly number: number;
}

/** The id in the form of a UUID, as in Curator's names. If the answer to the creation of a node was lost, the node is found by this UUID. */
function guid(id: string): string {
  const form = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(id);
  return form ? form.slice(1).join('-') : encodeURIComponent(id);
}

export const isOf = (id: string, name: string): boolean => name.startsWith(`_c_${guid(id)}-`);

/** The name of a new node, to which the server appends the number. */
export const nodeName = (claim: Claim): string => `_c_${guid(claim.id)}-${kindOf(claim)}`;

function kindOf({ units, capacity, readWrite }: Claim): string {
  if (units === ALL_UNITS && capacity === ALL_UNITS) return readWrite ? '__WRIT__' : 'lock-';
  if (units === SHARED.units && capacity === SHARED.capacity) return '__READ__';
  return `${units}of${capacity}-lock-`;
}

/** The queue, in order. A sequential node with an unknown name takes all units: its meaning is not known. A child without a number is no claim. */
export function sortedQueue(names: readonly string[]): ClaimNode[] {
  const queue = names.map(member).filter((found) => found !== undefined);
  // Compared as serial numbers (RFC 1982), the numbers keep their order when the counter wraps, if they differ by less than 2³¹.
  return queue.sort((a, b) => (a.number - b.number) | 0);
}

function member(name: string): ClaimNode | undefined {
  const [, , units, capacity, kind, number] = NAME.exec(name) ?? [];
  if (!kind) {
    const foreign = NUMBER.exec(name);
    return foreign ? { name, number: Number(foreign[0]) | 0, ...EXCLUSIVE } : undefined;
  }
  return { name, number: Number(number) | 0, ...unitsOf(kind, Number(units), Number(capacity)) };
}

function unitsOf(kind: string, units: number, capacity: number): Demand {
  if (kind === '__READ__') return SHARED;
  const sound = kind === 'lock-' && units >= 1 && units <= capacity && capacity <= ALL_UNITS;
  return sound ? { units, capacity } : EXCLUSIVE;
}

/** Several segments are allowed (`app/locks`), so that locks can be where other clients have their locks. */
const PREFIX =
  /^(?=.{1,256}$)(?!zookeeper(?:\/|$))(?!\.\.?(?:\/|$))[A-Za-z0-9_.:-]+(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9_.:-]+)*$/;

/** The path of the parent of all keys' nodes, such as `/holdfast`. */
export function rootOf(prefix: string): string {
  return `/${checkPrefix(prefix, PREFIX)}`;
}

/**
 * A key is one segment, percent-encoded. So two keys never have the same path, and the segment contains no `/`, and nothing that ZooKeeper
 * refuses in a path (control characters, surrogates, private use, `.` and `..` alone).
 */
export const encodeKey = (key: string): string =>
  key === '.' || key === '..' ? key.replaceAll('.', '%2E') : encodeURIComponent(key);

/** @returns undefined for a segment that `encodeKey` never makes: a node of another program */
export function decodeKey(segment: string): string | undefined {
  try {
    const key = decodeURIComponent(segment);
    return encodeKey(key) === segment ? key : undefined;
  } catch {
    return undefined;
  }
}
