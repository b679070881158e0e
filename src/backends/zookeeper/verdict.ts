import { ALL_SEATS, admitted, isExclusive } from '../../core/admission.ts';
import { isPermit, type Member } from './names.ts';

/** `relay`: the next in line waits to hear of it. */
export interface Admitted {
  readonly admitted: true;
  readonly relay: boolean;
}

export interface Refused {
  readonly admitted: false;
  readonly ahead: number;
  /** The name of the node to watch; none means the whole line. */
  readonly behind?: string;
  /** A write of that node is news too, not only its end. */
  readonly relayed: boolean;
}

export type Verdict = Admitted | Refused;

/**
 * The rule over the line, and whom to watch so that nobody is woken in vain: as few as possible look at one node.
 *
 * - An exclusive claim needs everybody ahead gone: its predecessor is the last of them to ask about.
 * - A reader needs every exclusive claim ahead gone: it watches the nearest.
 * - Of waiting permits the first watches the whole line, since any of the holders may make room. Each of the others
 *   watches its predecessor, who, when admitted, touches its own node.
 *
 * @returns undefined when the name is not in the line
 */
export function verdictOn(line: readonly Member[], name: string): Verdict | undefined {
  const at = line.findIndex((member) => member.name === name);
  const mine = line[at];
  if (!mine) return undefined;
  const inside = admitted(line);
  if (at < inside) {
    const next = line[at + 1];
    return { admitted: true, relay: next !== undefined && !isExclusive(mine) && isPermit(next) };
  }
  const behind = obstacle(line, at, inside);
  const relayed = behind !== undefined && !isExclusive(mine) && !isExclusive(behind);
  return { admitted: false, ahead: at, behind: behind?.name, relayed };
}

function obstacle(line: readonly Member[], at: number, inside: number): Member | undefined {
  const mine = line[at]!;
  const predecessor = line[at - 1]!;
  if (isExclusive(mine) || isExclusive(predecessor)) return predecessor;
  if (mine.of === ALL_SEATS) return line.slice(0, at).findLast(isExclusive);
  return at > inside ? predecessor : undefined;
}
