import { kindOf, Refused } from './encoding.ts';

/**
 * Calls a function of the user's on what is kept. What it throws is told by its kind, since its message may have the words.
 * @throws Refused if it throws, or gives a promise, for which nobody waits
 */
export function given<R>(name: string, act: () => R): R {
  let result: R;
  try {
    result = act();
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(`${name} threw ${kindOf(error)}`);
  }
  const { then } = Object(result) as Partial<PromiseLike<unknown>>;
  if (typeof then !== 'function') return result;
  Promise.resolve(result).catch(() => {}); // its rejection is told here, and nowhere else
  throw new Refused(`${name} gave a promise, and has to give what is kept at once`);
}

/** @throws Refused, also where that gives no text that every engine can keep */
export function textGiven(name: string, act: () => unknown): string {
  const text = given(name, act);
  if (typeof text === 'string' && text.isWellFormed()) return text;
  throw new Refused(`${name} gave no well-formed text`);
}
