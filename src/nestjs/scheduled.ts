import { SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { LocksHost } from './host.ts';

/** What a method says that is run by a schedule, once of all instances. */
export interface Scheduled {
  /**
   * When the application starts, before anything is scheduled.
   * @param owner whose method it is
   * @throws LockError `LOCK_INVALID` when it could not run
   */
  prepare(host: LocksHost, owner: object): Promise<void>;
}

const SCHEDULED = 'holdfast:scheduled';
const reflector = new Reflector();

export const noteScheduled = (method: () => unknown, scheduled: Scheduled): void => {
  SetMetadata(SCHEDULED, scheduled)(method);
};

export const scheduledOf = (method: () => unknown): Scheduled | undefined =>
  reflector.get<Scheduled | undefined>(SCHEDULED, method);
