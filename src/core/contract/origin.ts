import { hash } from 'node:crypto';
import { type Clock, inEachClone } from './clock.ts';

/**
 * The process of a claim, and the holds that its caller had. The label of the claim ends with the origin, so that a backend stores and lists it with
 * the text for people:
 *
 *   <label>~<process>.<claim>[,<claim>[=<key>]]…[+][;d<ms since 1970>][;t<traceparent>]
 *
 * The numbers are base 36, the keys percent-encoded. The last `~` of a label begins the origin, which has no other `~`. A label of another program
 * has no origin, and stays as it is.
 */
export interface Origin {
  /** A random word of 8 characters, the same for all claims of a process. The word is no secret; an id is. */
  readonly process: string;
  /** The number of the claim in its process. A hold that passes from hand to hand keeps the number. */
  readonly claim: number;
  /** The holds of the same process that the caller had when it asked, the innermost first; at most 16. */
  readonly inside: readonly Enclosing[];
  /** Whether the caller had more holds than `inside` names. */
  readonly cut: boolean;
  /** The time at which the caller began to wait, ms since 1970 by its machine; only if it searches for deadlocks (`detect`). */
  readonly detects?: number;
  /** The span of the caller, as W3C Trace Context writes it: 55 characters. */
  readonly traceparent?: string;
}

/** A hold around a claim. */
export interface Enclosing {
  /** The number of the claim of this hold, in the same process. */
  readonly claim: number;
  /** The key of the hold, unless the key is too long for the label. */
  readonly key?: string;
}

/** What a request knows of the origin of its claim before the claim exists. */
export interface Circumstances {
  readonly inside: readonly Enclosing[];
  readonly cut: boolean;
  readonly detects?: number | undefined;
  /** The span of the caller. `labelFor` leaves out text that is no span. */
  readonly traceparent?: string | undefined;
}

/** The origin of a claim of this process. */
export interface OwnOrigin extends Circumstances {
  readonly process: string;
  readonly claim: number;
}
/** The most holds that a label names, and the most characters that their keys take. */
export const MAX_ENCLOSING = 16;
const MAX_KEYS_LENGTH = 320;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const TAG =
  /^([0-9a-z]{8})\.([0-9a-z]{1,11})((?:,[0-9a-z]{1,11}(?:=[^,;+=\s]*)?)*)(\+?)(?:;d([0-9a-z]{1,11}))?(?:;t([0-9a-f-]{55}))?$/;

/** Writes the label of a claim and its origin, as an engine stores them. */
export function labelFor(label: string, { process, claim, inside, cut, detects, traceparent }: OwnOrigin): string {
  let room = MAX_KEYS_LENGTH;
  let text = `${label}~${process}.${claim.toString(36)}`;
  for (const { claim, key } of inside) {
    const name = key === undefined ? undefined : `=${encodeURIComponent(key).replaceAll('~', '%7E')}`;
    text += `,${claim.toString(36)}`;
    if (name === undefined || name.length > room) continue;
    room -= name.length;
    text += name;
  }
  if (cut) text += '+';
  if (detects !== undefined) text += `;d${Math.max(0, Math.floor(detects)).toString(36)}`;
  if (traceparent !== undefined && TRACEPARENT.test(traceparent)) text += `;t${traceparent}`;
  return text;
}

/** Splits a label that was listed into the text for people and the origin. */
export function labelParts(text: string): { readonly label: string; readonly origin?: Origin } {
  const at = text.lastIndexOf('~');
  const origin = at < 0 ? undefined : originIn(text.slice(at + 1));
  return origin ? { label: text.slice(0, at), origin } : { label: text };
}

function originIn(tag: string): Origin | undefined {
  const [, process, claim, inside, cut, detects, traceparent] = TAG.exec(tag) ?? [];
  if (process === undefined || claim === undefined) return undefined;
  try {
    return {
      process,
      claim: Number.parseInt(claim, 36),
      inside: (inside ? inside.slice(1).split(',') : []).map(enclosingIn),
      cut: cut === '+',
      ...(detects !== undefined && { detects: Number.parseInt(detects, 36) }),
      ...(traceparent !== undefined && { traceparent }),
    };
  } catch {
    return undefined; // the key is not percent-encoded, so another program wrote the label
  }
}

function enclosingIn(text: string): Enclosing {
  const [claim = '', key] = text.split('=');
  return { claim: Number.parseInt(claim, 36), ...(key !== undefined && { key: decodeURIComponent(key) }) };
}

/** Gives each claim of this process a name: the word of the process, and a number. No other claim has both. */
export class ProcessName {
  /**
   * A word of 8 characters: two of 10,000 processes on one engine have the same one with a chance of 1 in 50,000. It is a digest of the id
   * of the first claim, and does not reveal that id. Undefined before the first claim.
   */
  word: string | undefined;
  #last = 0;

  /** Gives the number of the next claim. @param id the id of that claim */
  next(id: string): number {
    this.word ??= (Number.parseInt(hash('sha256', id).slice(0, 12), 16) % 36 ** 8).toString(36).padStart(8, '0');
    return ++this.#last;
  }

  /** Gives a number for a claim that may be made later. */
  reserve(): number {
    return ++this.#last;
  }
}

const names = new WeakMap<Clock, ProcessName>();

/** Gives the name of the process that has this clock: a simulation has several. All `Locks` on the machine's clock share one name. */
export function processName(clock: Clock): ProcessName {
  const known = names.get(clock);
  if (known) return known;
  const name = new ProcessName();
  inEachClone(() => {
    name.word = undefined;
  });
  names.set(clock, name);
  return name;
}
