import type { Claim } from './backend.ts';
import type { Enclosing } from './origin.ts';

/** A claim, and what its label tells of it. */
export interface NumberedClaim extends Claim {
  /** Its number in this process. */
  readonly number: number;
  readonly inside: readonly Enclosing[];
  readonly detects?: number | undefined;
}
