import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestant.ts';

export interface Served {
  readonly count: number;
  /** What was thrown instead, in words. */
  readonly failed: readonly string[];
}

let turns: Promise<string | undefined>[] = [];
/** Of those who did not get the key so far, why. */
export let failures: string[] = [];

/** So many callers come within `ms`, ask for the key, each once, and give it back at once when they have it. */
export function ask(contestant: Contestant, key: string, callers: number, ms: number): void {
  failures = [];
  turns = Array.from({ length: callers }, async () => {
    await sleep(Math.random() * ms);
    try {
      await (await contestant.lock(key)())();
      return undefined;
    } catch (error) {
      failures.push(String(error));
      return String(error);
    }
  });
}

/** Resolves when all of them have had their turn. */
export async function served(): Promise<Served> {
  const failed = (await Promise.all(turns)).filter((error) => error !== undefined);
  return { count: turns.length - failed.length, failed };
}
