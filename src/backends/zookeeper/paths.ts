import { checkPrefix } from '../../core/key.ts';

/** Several segments, so that locks may stand where a team's other clients have theirs: `app/locks`. */
const PREFIX =
  /^(?=.{1,256}$)(?!zookeeper(?:\/|$))(?!\.\.?(?:\/|$))[A-Za-z0-9_.:-]+(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9_.:-]+)*$/;

/** `/holdfast`: the node under which every key has one of its own. */
export function rootOf(prefix: string): string {
  return `/${checkPrefix(prefix, PREFIX)}`;
}

/**
 * A key is one segment: percent-encoded, so that neither `/` nor what ZooKeeper refuses in a path (control characters,
 * surrogates, private use, `.` and `..` alone) gets into it, and no two keys meet.
 */
export const encodeKey = (key: string): string =>
  key === '.' || key === '..' ? key.replaceAll('.', '%2E') : encodeURIComponent(key);

/** @returns undefined for what `encodeKey` never makes: a node of somebody else */
export function decodeKey(segment: string): string | undefined {
  try {
    const key = decodeURIComponent(segment);
    return encodeKey(key) === segment ? key : undefined;
  } catch {
    return undefined;
  }
}
