import type { Place } from './contestant.ts';

/** An engine, or `redlock-hung` and `stock`. */
export type Group = string;

type Engine = Omit<Place, 'seat' | 'run'>;

/** The engine of a group, started for this run. */
export interface Arena extends AsyncDisposable {
  readonly place: Engine;
  /** The same engine behind a link with a round trip of its own. */
  readonly far?: Engine;
  /** Process ids of servers that may be given a core of their own. */
  readonly servers?: readonly number[];
  /** Commands that clients sent since the last look, as the server counted them. */
  commands?(contestant: string): Promise<number>;
  /** Those the server has seen since it was started; asked while no contestant is connected. */
  deadlocks?(): Promise<number>;
}

export type Sample = Readonly<Record<string, number>>;

/** One of those who are compared in a row, measured once in fresh processes. */
export interface Entry {
  readonly name: string;
  /** @param patience part of the usual time to spend: 1, or less for a quick look */
  measure(arena: Arena, patience: number): Promise<Sample>;
}

/** What a row wants, judged in each round, so that a machine which is busy for a while is busy for all. */
export interface Target {
  readonly what: string;
  value(of: (entry: string, figure: string) => number): number;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Row {
  readonly group: Group;
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly targets: readonly Target[];
  /** The entry that all others are measured by: their part of what it does in a second is shown. */
  readonly floor?: string;
  /** A figure to be drawn as bars, an entry each. */
  readonly drawn?: string;
  /** At most so many rounds, where one takes long. */
  readonly rounds?: number;
}

export const ratio =
  (figure: string, ours: string, theirs: string): Target['value'] =>
  (of) =>
    of(ours, figure) / of(theirs, figure);

export const figure =
  (name: string, entry: string): Target['value'] =>
  (of) =>
    of(entry, name);
