interface Recorded {
  readonly what: string;
  readonly at: number;
}

/** A history of events of one kind of run. */
export interface Recording<E extends Recorded> {
  readonly events: readonly E[];
}

/** The events of some kinds; one member of a union may stand for two of them. */
export type Of<E extends Recorded, W extends E['what']> = E & { what: W };

export function all<E extends Recorded, W extends E['what']>({ events }: Recording<E>, ...what: W[]): Of<E, W>[] {
  return events.filter((event): event is Of<E, W> => (what as string[]).includes(event.what));
}

export const time = (at: number): string => `${at.toFixed(1)} ms`;

/** What is still there long after the end of a run. */
interface Left extends Recorded {
  readonly what: 'left';
  readonly claims: number;
  readonly timers: number;
  readonly watches: number;
}

/** In the end nothing is left, neither on the engine nor in a process. */
export const residue = ({ events }: Recording<Recorded>): string[] =>
  events
    .filter((event): event is Left => event.what === 'left')
    .filter(({ claims, timers, watches }) => claims + timers + watches > 0)
    .map(({ claims, timers, watches }) => `left: ${claims} claims, ${timers} timers, ${watches} watches`);
