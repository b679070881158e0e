import type { Engine, KeyState, ValueState } from '../core/index.ts';

/** What a page or a listing may show of a memo: never its words. */
export interface MemoSight {
  /** `absent` and `running` only after attempts that are counted: without them nothing tells a memo from a lock. */
  readonly state: KeyState;
  /** Runs begun since something was left last, where the memo counts them. */
  readonly attempts: number;
  /** The fencing token of the run that left what is there. */
  readonly token?: bigint;
  /** The time since a result was left, ms. An error does not tell. */
  readonly since?: number;
  /** The time until what is left is gone, ms. */
  readonly remaining?: number;
}

/** The state that words are in by their head alone. Words of a newer version count as kept. */
export function stateOf(text: string): ValueState {
  const [, kind] = /^\d+ (failed|poisoned|unkept) /.exec(text) ?? [];
  return kind === 'unkept' ? 'failed' : ((kind as ValueState | undefined) ?? 'kept');
}

/**
 * Looks at a key, without the options of its memo.
 * @param held whether somebody holds it
 * @returns undefined if the engine remembers nothing of it
 */
export async function sightOf(engine: Engine, key: string, held: boolean): Promise<MemoSight | undefined> {
  if (!engine.backend.values) return undefined;
  const { value, attempts } = await engine.look(key);
  if (!value) return attempts > 0 ? { state: held ? 'running' : 'absent', attempts } : undefined;
  const { text, token, age, validFor: remaining } = value;
  const state = stateOf(text);
  return { state, attempts, token, remaining, ...(state === 'kept' && { since: age }) };
}
