/** One claim as an engine has it. */
export interface Standing {
  readonly who: string;
  readonly held: boolean;
  readonly token?: string;
  /** When it is over unless renewed, true ms since the scene began; undefined: never. */
  readonly expires?: number;
}

/** An engine as it is seen from outside. */
export interface ObservedEngine {
  readonly name: string;
  readonly line: () => readonly Standing[];
}
