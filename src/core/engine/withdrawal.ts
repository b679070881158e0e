import type { Claim } from '../contract/backend.ts';
import { isLockError } from '../contract/errors.ts';
import type { Engine } from './engine.ts';

/** Pauses of a withdrawal whose outcome is unknown: the first, doubled up to the last. ms. */
const FIRST_RETRY = 50;
const LAST_RETRY = 2_000;

/**
 * Takes back, in the background, whatever this id may have been given: releases it until the engine says so, or where its
 * own lease keeps it, until that must be over. Nothing waits for it but `close`.
 * @param lateUntil until when a request may arrive that nobody answered: it is taken back then once more
 */
export function withdraw(engine: Engine, claim: Claim, lateUntil = 0): void {
  withdrawAt(engine, claim, lateUntil);
  void untilReleased(engine, claim);
}

/** At that time, if it is still to come; `close` leaves it then. */
export function withdrawAt(engine: Engine, claim: Claim, time: number): void {
  const after = time - engine.clock.now();
  if (after > 0) void engine.activity.pause(after, true).then(() => engine.activity.over || withdraw(engine, claim));
}

async function untilReleased(engine: Engine, claim: Claim): Promise<void> {
  const { activity, backend, clock } = engine;
  const lapses = backend.traits.keptBy === 'lease';
  const until = lapses ? clock.now() + claim.within + claim.ttl : Number.POSITIVE_INFINITY;
  activity.begin();
  try {
    for (let pause = FIRST_RETRY; ; pause = Math.min(pause * 2, LAST_RETRY)) {
      try {
        await engine.release(claim);
        return;
      } catch (error) {
        if (!mayPass(error) || backend.ended?.() || clock.now() >= until) return;
        await activity.pause(pause, true);
        if (activity.over) return;
      }
    }
  } finally {
    activity.end();
  }
}

/** A refusal for what the server is like just now, with a full disk say, is none for good; nor is what nobody knows. */
const mayPass = (error: unknown): boolean => !isLockError(error) || error.code === 'LOCK_UNAVAILABLE';
