import type { NewValue } from '../../core/contract/backend.ts';
import { NO_MARK } from '../../core/contract/left.ts';
import { unknownFormat } from '../shared/record.ts';

/**
 * What is stored of a key beside its line: `left`, the words, and `attempts`, the holds that left none. Each is under a lease of its own,
 * which ends it. No line has this name, as `@` is encoded in keys.
 */
const FOLDER = '@words';

export interface WordsNames {
  /** What both begin with. */
  readonly both: Buffer;
  readonly left: Buffer;
  readonly attempts: Buffer;
}

export function wordsNames(prefix: string, key: string): WordsNames {
  const both = `${prefix}/${FOLDER}/${encodeURIComponent(key)}/`;
  return { both: Buffer.from(both), left: Buffer.from(`${both}left`), attempts: Buffer.from(`${both}attempts`) };
}

/** The begin and the end of all names of words, between those of lines. */
export const wordsRange = (prefix: string): readonly [from: Buffer, to: Buffer] => [
  Buffer.from(`${prefix}/${FOLDER}/`),
  Buffer.from(`${prefix}/${FOLDER}0`),
];

/** The words as they are stored. The text is last, and may hold anything. */
export interface StoredWords {
  /** The token of the hold that left them. */
  readonly token: bigint;
  /** Their lease was granted in this term of a leader, or later. */
  readonly term: bigint;
  readonly ageless: boolean;
  readonly text: string;
}

export interface StoredAttempts {
  readonly attempts: number;
  /** The token of the last of these holds. */
  readonly begun: bigint;
  readonly mark: string;
}

const LEFT = /^1 (\d+) (\d+) (dated|ageless) (.*)$/s;
const TRIES = /^1 (\d+) (\d+) (\S+)$/;

export const writeLeft = (token: bigint, term: bigint, { text, ageless }: NewValue): Buffer =>
  Buffer.from(`1 ${token} ${term} ${ageless ? 'ageless' : 'dated'} ${text}`);

/** @throws LockError `LOCK_INVALID` for a text of another format */
export function readLeft(stored: Buffer): StoredWords {
  const [token, term, how, text] = fieldsOf(LEFT, stored);
  return { token: BigInt(token!), term: BigInt(term!), ageless: how === 'ageless', text: text! };
}

export const writeAttempts = ({ attempts, begun, mark }: StoredAttempts): Buffer =>
  Buffer.from(`1 ${attempts} ${begun} ${mark}`);

/** @throws LockError `LOCK_INVALID` for a text of another format */
export function readAttempts(stored: Buffer | undefined): StoredAttempts {
  if (!stored) return { attempts: 0, begun: 0n, mark: NO_MARK };
  const [attempts, begun, mark] = fieldsOf(TRIES, stored);
  return { attempts: Number(attempts), begun: BigInt(begun!), mark: mark! };
}

function fieldsOf(form: RegExp, stored: Buffer): string[] {
  const match = form.exec(stored.toString());
  if (!match) throw unknownFormat();
  return match.slice(1);
}
