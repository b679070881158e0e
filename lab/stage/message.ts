/** What a message says. */
export type Kind =
  | 'attempt'
  | 'renew'
  | 'release'
  | 'wake'
  | 'get'
  | 'set'
  | 'expire'
  | 'delete'
  | 'subscribe'
  | 'read'
  | 'write'
  | 'copy';

export type Says = 'yes' | 'no' | 'wait';

/** One message on its way. Times are true ms since the scene began. */
export interface Message {
  /** The number of the message on its route: the same in every run from the same seed and with the same faults so far. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: Kind;
  /** The answer to a request. */
  readonly answer: boolean;
  /** What an answer says: yes, no, or that a place in line is kept. */
  readonly says: Says;
  readonly sent: number;
  /** When it arrives, unless it is lost. */
  due: number;
  /** When it was lost. */
  lost?: number;
  /** When it was held up, and for how long. */
  held?: { readonly at: number; readonly ms: number };
}

/** Where it is on its way at that time: 0 at its sender, 1 at its receiver; undefined when it is not on its way. */
export function progress(message: Message, at: number): number | undefined {
  const { sent, due, held } = message;
  const lost = message.lost ?? Number.POSITIVE_INFINITY;
  if (at < sent || at > Math.min(due, lost + LINGERS)) return undefined;
  const now = Math.min(at, lost);
  const moving = due - sent - (held?.ms ?? 0);
  const stood = held ? Math.min(Math.max(0, now - held.at), held.ms) : 0;
  return Math.min(1, (now - sent - stood) / moving);
}

/** For so long a lost message is still shown where it was lost. ms */
export const LINGERS = 40;
