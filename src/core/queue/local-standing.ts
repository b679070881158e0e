import type { Units } from '../contract/admission.ts';
import type { Origin } from '../contract/origin.ts';
import type { AcquireRequest } from './acquire-request.ts';
import type { LineContext } from './line-context.ts';

/** One request of this process for a key, in the order of the line that they have here. */
export interface LocalStanding extends Units {
  readonly key: string;
  readonly label: string;
  /** The time since it was asked for, ms. */
  readonly since: number;
  /** The origin as of now, without frames that are over. */
  readonly origin: Origin;
  /** Whether it stands in the engine's line, or holds. */
  readonly queued: boolean;
}

/** @returns nothing before the first claim of this process */
export function localStanding(context: LineContext, request: AcquireRequest, queued: boolean): LocalStanding[] {
  const { name, engine } = context;
  const process = name.word;
  if (process === undefined) return [];
  request.number ??= name.reserve();
  const { key, number: claim, began } = request;
  const { units, capacity } = request.seats;
  const { inside = [], cut = false } = request.circumstances() ?? {};
  const detects = request.queued?.claim.detects; // a caller that looks for deadlocks has a claim in the engine's line
  const origin = { process, claim, inside, cut, ...(detects !== undefined && { detects }) };
  const since = engine.clock.now() - began;
  return [{ key, label: request.terms.label, units, capacity, since, origin, queued }];
}
