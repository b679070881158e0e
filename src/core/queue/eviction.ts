import { hash } from 'node:crypto';
import type { Hints } from '../contract/backend.ts';
import { visible } from '../contract/visible.ts';
import type { Engine } from '../engine/engine.ts';
import type { Hold, LossReason } from './hold.ts';

/** The longest time that a note may hold up an eviction, and what its holder is told, ms. */
const [TO_WRITE, TO_READ] = [1_000, 250];
/** A note stays for an hour at most, ms. */
const LONGEST = 3_600_000;

/** Makes the text of a note. It has at most 328 characters: an engine may have no more room than 1,024 bytes. */
export const evictionNote = (reason: string, label: string): string => `${cut(reason, 200)}\n${cut(label, 128)}`;

/**
 * Leaves a note for the holder with this token, or removes it. It is advice, so an error with it is no error of the eviction.
 * @param ttl the time within which the holder asks the engine, ms
 */
export const noteEviction = (engine: Engine, key: string, token: bigint, text?: string, ttl = 0): Promise<void> =>
  ask(engine, TO_WRITE, (notes) => notes.write(nameOf(key, token), text, Math.min(ttl, LONGEST) + TO_WRITE));

/** Reads and removes the note. @param left the time after which the holder must be told, ms @returns undefined if that cannot be */
function evictionOf(engine: Engine, key: string, token: bigint, left: number) {
  if (!engine.backend.hints || !(left > 0)) return undefined;
  const note = ask(engine, Math.min(left, TO_READ), (notes) => notes.read(nameOf(key, token)));
  return note.then((text): LossReason | undefined => {
    if (text === undefined) return undefined;
    void noteEviction(engine, key, token);
    const [reason = '', label = ''] = text.split('\n').map(visible);
    return { reason, words: `it was released by force: "${reason}" (by ${label})` };
  });
}

/** Ends a hold that the engine says is gone. A note may say that somebody evicted it: that of its first holder here, which had the token. */
export function endGone(hold: Hold, reason: string): Promise<void> {
  const { keeper, claim, timing, token, tenure } = hold;
  const left = timing.noticeAt - keeper.engine.clock.now();
  return hold.end(reason, evictionOf(keeper.engine, claim.key, token - BigInt(tenure.passes), left));
}

/** The key and the token name one hold alone. Their hash fits everywhere. */
const nameOf = (key: string, token: bigint): string => `\u0001evicted/${hash('sha256', `${token}/${key}`)}`;

async function ask<T>(engine: Engine, within: number, call: (notes: Hints) => Promise<T>): Promise<T | undefined> {
  const { activity, backend } = engine;
  if (!backend.hints) return undefined;
  activity.begin();
  const asked = engine.limit(() => call(backend.hints!), within, 'a note');
  return asked.catch(() => undefined).finally(() => activity.end());
}

function cut(text: string, longest: number): string {
  const shown = visible(text);
  return (shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown).toWellFormed();
}
