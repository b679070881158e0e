import { isExclusive, printable, type QueueEntry } from '../core/index.ts';

/** Who leads, as the engine has it. */
export interface Incumbent {
  /** The `label` option of the leader. */
  readonly label: string;
  /** The token of the term. */
  readonly token: bigint;
  /** ms since this candidate stood for election; undefined if the engine does not keep it. */
  readonly since: number | undefined;
}

/**
 * The leader among the claims of a key, or null.
 * @param delay how long a expired term still shows, ms
 */
export async function incumbentOf(standings: AsyncIterable<QueueEntry>, delay = 0): Promise<Incumbent | null> {
  for await (const standing of standings) {
    if (!standing.held || !isExclusive(standing)) continue;
    if (delay > 0 && standing.remaining <= delay) continue;
    const { label, token, since } = standing;
    return printable({ label, token, since });
  }
  return null;
}

export interface Watching {
  ask(): Promise<Incumbent | null>;
  /** Waits between two questions. It ends early when there is something to ask about, or the observer leaves. */
  pause(): Promise<void>;
  /** The observer has left. */
  end(): void;
  onFailure(error: unknown): undefined;
  readonly hasLeft: () => boolean;
}

/**
 * Every change of leader that a question sees, and the first answer. It asks only after the last answer was taken: so the
 * newest leader always arrives, and one that came and went in between does not.
 */
export async function* changes(watching: Watching): AsyncGenerator<Incumbent | null, void, void> {
  const { ask, pause, end, onFailure, hasLeft } = watching;
  let known: bigint | null | undefined;
  try {
    while (!hasLeft()) {
      // If the engine does not answer for a while, the observation goes on.
      const now = await ask().catch(onFailure);
      const token = now === undefined ? known : (now?.token ?? null);
      if (!hasLeft() && token !== known) {
        known = token;
        yield now!;
      }
      if (!hasLeft()) await pause();
    }
  } finally {
    end();
  }
}
