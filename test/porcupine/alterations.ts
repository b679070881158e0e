import type { Event } from '../../products/torture/events.ts';
import { isExclusive } from '../../src/core/index.ts';

type EventOf<What extends Event['what']> = Event & { readonly what: What };

interface Hold {
  readonly asked: EventOf<'asked'>;
  readonly entered: EventOf<'entered'>;
  readonly left?: EventOf<'left'>;
  readonly claimed?: EventOf<'claimed'>;
}

/** One event of a history, and another one that no lock could have caused in its place. */
export interface Alteration {
  readonly what: string;
  readonly of: Event;
  readonly to: Event;
}

const moved = <E extends Event>(event: E, at: number): E => ({ ...event, at });

/** The exclusive holds with tokens of each key that were given back, in the order of their times. */
function holdsOf(events: readonly Event[]): Hold[][] {
  const holds = new Map<string, Partial<Hold>>();
  for (const event of events) {
    if (event.what === 'asked' && isExclusive(event)) holds.set(event.op, { asked: event as EventOf<'asked'> });
    else if (event.what === 'entered' || event.what === 'left' || event.what === 'claimed') {
      const hold = holds.get(event.op);
      if (hold) Object.assign(hold, { [event.what]: event });
    }
  }
  const keys = new Map<string, Hold[]>();
  for (const hold of holds.values()) {
    const { asked, entered } = hold;
    if (!asked || entered?.token === undefined) continue;
    keys.set(asked.key, [...(keys.get(asked.key) ?? []), hold as Hold]);
  }
  return [...keys.values()].map((all) => all.toSorted((a, b) => a.entered.at - b.entered.at));
}

/** All alterations of one event that break a promise: of two holds of a key, one after the other, the second one's or the first one's. */
export function alterations(events: readonly Event[]): Alteration[] {
  const faults = events.filter(({ what }) => ['killed', 'stopped', 'continued', 'crashed'].includes(what));
  const isDisturbed = (from: number, to = Number.POSITIVE_INFINITY): boolean =>
    faults.some(({ at }) => at >= from && at <= to);
  return holdsOf(events).flatMap((holds) =>
    holds.slice(1).flatMap((next, i): Alteration[] => {
      const { entered, left, claimed } = holds[i]!;
      const seen = left !== undefined && left.at > entered.at && next.entered.before > left.at;
      if (!seen || isDisturbed(entered.at, next.left?.at)) return []; // beside a fault an alteration may be no harm
      const token = (value: string | undefined): Event => ({ ...next.entered, token: value! });
      const within = (entered.at + left.at) / 2;
      return [
        { what: 'the token of the hold before', of: next.entered, to: token(entered.token) },
        { what: 'a lower token', of: next.entered, to: token(String(BigInt(entered.token!) - 1n)) },
        ...(next.asked.at < within
          ? [{ what: 'seen too soon', of: next.entered, to: { ...moved(next.entered, within), before: within } }]
          : []),
        ...(next.left && next.left.at > next.entered.at
          ? [{ what: 'left too late', of: left, to: moved(left, (next.entered.at + next.left.at) / 2) }]
          : []),
        ...(claimed?.accepted && claimed.at < left.at
          ? [{ what: 'its first write refused', of: claimed, to: { ...claimed, accepted: false } }]
          : []),
      ];
    }),
  );
}
