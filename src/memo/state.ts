import type { Engine, KeyState, ValueState } from '../core/index.ts';

/** What a page or a listing may show of a memo: never its value. */
export interface MemoSight {
  /** `absent` and `running` occur only if the memo counts attempts: otherwise a memo looks like a lock. */
  readonly state: KeyState;
  /** The number of runs begun since a value was stored last, if the memo counts attempts. */
  readonly attempts: number;
  /** The fencing token of the run that stored the value. */
  readonly token?: bigint;
  /** The time since a result was stored, ms. An error has none. */
  readonly since?: number;
  /** The time until the value is gone, ms. */
  readonly remaining?: number;
}

/** Whether a stored text is an error of a run: it has a time of its own, and no age. */
export const isOfError = (text: string): boolean => /^\d+ (failed|poisoned) /.test(text);

/** The state that the head of a stored text names. A kind that only a newer version knows counts as `kept`. */
export function stateOf(text: string): ValueState {
  const [, kind] = /^\d+ (failed|poisoned|unkept) /.exec(text) ?? [];
  return kind === 'unkept' ? 'failed' : ((kind as ValueState | undefined) ?? 'kept');
}

/**
 * Looks at the memo of a key without its options.
 * @param held whether the key is held
 * @returns undefined if the engine has no value and no attempts under the key
 */
export async function sightOf(engine: Engine, key: string, held: boolean): Promise<MemoSight | undefined> {
  if (!engine.backend.values) return undefined;
  const { value, attempts } = await engine.look(key);
  if (!value) return attempts > 0 ? { state: held ? 'running' : 'absent', attempts } : undefined;
  const { text, token, age, validFor: remaining } = value;
  const state = stateOf(text);
  return { state, attempts, token, remaining, ...(state === 'kept' && { since: age }) };
}
