import { isExclusive } from '../contract/admission.ts';
import type { Claim } from '../contract/backend.ts';
import { type Enclosing, labelled } from '../contract/origin.ts';
import { CALL_TIMEOUT } from '../engine/engine.ts';
import { type AcquireRequest, askedOf, leaseOf } from '../line/acquire-request.ts';
import type { LockRuntime } from '../line/runtime.ts';
import { placeTtlFor, waitedAway } from './pause.ts';

/** A claim, and what its label tells of it. */
export interface NumberedClaim extends Claim {
  /** Its number in this process. */
  readonly number: number;
  readonly inside: readonly Enclosing[];
  readonly detects?: number | undefined;
}

const NOTHING: readonly never[] = [];

/** What is asked of the engine for a request. Its id is made anew: one that was given back is never used again. */
export function claimFor(request: AcquireRequest, runtime: LockRuntime): NumberedClaim {
  const { seats, resolved } = request;
  const { engine, name } = runtime;
  const { backend, clock } = engine;
  const { traits } = backend;
  const id = clock.id();
  const number = name.next();
  const circumstances = request.circumstances(runtime);
  const ttl = askedOf(resolved);
  const queue = resolved.wait > 0 && traits.fair;
  const placeTtl = queue ? placeTtlFor(resolved, traits) : undefined;
  const woken = queue && traits.keptBy === 'lease' && traits.wakes !== 'never';
  return {
    key: request.key,
    id,
    take: seats.take,
    of: seats.of,
    readWrite: seats.readWrite,
    ttl: woken ? Math.min(ttl + waitedAway({ ttl, placeTtl }), traits.ttl.max) : ttl,
    queue,
    placeTtl,
    span: isExclusive(seats) ? resolved.handOff.max + 1 : 1,
    within: Math.min(CALL_TIMEOUT, Math.max(leaseOf(resolved) / 2, 100)),
    lingers: resolved.minHold > 0 || resolved.delay > 0,
    label: labelled(resolved.label, name.word(id), number, circumstances),
    number,
    inside: circumstances?.inside ?? NOTHING,
    detects: circumstances?.detects,
  };
}
