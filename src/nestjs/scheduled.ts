import { SetMetadata } from '@nestjs/common';
import { type ModuleRef, Reflector } from '@nestjs/core';
import type { Locks } from '../locks.ts';
import type { Work } from './work.ts';

/** The application that runs a scheduled method. */
export interface ScheduleHost {
  readonly locks: Locks;
  readonly work: Work;
  readonly moduleRef: ModuleRef;
}

/** What a method tells about its schedule, which runs it once among all instances. */
export interface Scheduled {
  /**
   * Called at the start of the application, before anything is scheduled.
   * @param owner the object of the method
   * @throws LockError `LOCK_INVALID` if it cannot run
   */
  prepare(host: ScheduleHost, owner: object): Promise<void>;
}

const SCHEDULED = 'holdfast:scheduled';
const reflector = new Reflector();

export const noteScheduled = (method: () => unknown, scheduled: Scheduled): void => {
  SetMetadata(SCHEDULED, scheduled)(method);
};

export const scheduleOf = (method: () => unknown): Scheduled | undefined =>
  reflector.get<Scheduled | undefined>(SCHEDULED, method);
