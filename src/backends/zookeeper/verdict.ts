import { ALL_SEATS, admitted, isExclusive } from '../../core/admission.ts';
import { isPermit, type Member } from './names.ts';

export type Verdict =
  /** `relay`: the next in line waits to hear of it. */
  | { readonly admitted: true; readonly relay: boolean }
  /** `behind`: the node to watch; none means the whole line. */
  | { readonly admitted: false; readonly ahead: number; readonly behind?: string };

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
  return { admitted: false, ahead: at, behind: obstacle(line, at, inside)?.name };
}

function obstacle(line: readonly Member[], at: number, inside: number): Member | undefined {
  const mine = line[at]!;
  const predecessor = line[at - 1]!;
  if (isExclusive(mine) || isExclusive(predecessor)) return predecessor;
  if (mine.of === ALL_SEATS) return line.slice(0, at).findLast(isExclusive);
  return at > inside ? predecessor : undefined;
}
