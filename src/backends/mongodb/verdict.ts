import { admitted } from '../../core/contract/admission.ts';
import type { Attempt, Claim } from '../../core/contract/backend.ts';
import { leastOf } from '../../core/contract/extremes.ts';
import type { LineDocument } from './driver.ts';

/** What a line means for a claim that must not join it after `notAfter`. */
export function answerTo({ id, ttl }: Claim, { line, now }: LineDocument, notAfter?: Date): Attempt {
  const index = line.findIndex((place) => place.id === id);
  if (index < 0 && notAfter && now > notAfter) return { granted: false, late: true };
  if (index >= 0 && admitted(line) > index) {
    return { granted: true, token: BigInt(line[index]!.token.toString()), validFor: ttl };
  }
  const ahead = index < 0 ? line : line.slice(0, index);
  const retryAfter = leastOf(ahead.map(({ expires }) => expires.getTime())) - now.getTime();
  return { granted: false, ahead: ahead.length, retryAfter };
}
