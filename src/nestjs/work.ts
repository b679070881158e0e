import { setTimeout as pass } from 'node:timers/promises';
import { SetMetadata } from '@nestjs/common';
import { type ModuleRef, Reflector } from '@nestjs/core';
import type { Locks } from '../locks.ts';

/** The work of the application's objects. It has to settle before they are destroyed. */
export class Work {
  readonly #settle: number;
  readonly #running = new Map<object, Set<Promise<unknown>>>();
  readonly #stop = new AbortController();
  #deadline = Number.POSITIVE_INFINITY;

  /** @param settle ms to wait for all of it, from the first call of `stop` */
  constructor(settle: number) {
    this.#settle = settle;
  }

  /** Aborted when the application goes down. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Runs the work, and keeps track of it until it has settled. */
  async run<T>(owner: object, fn: () => Promise<T>): Promise<T> {
    const running = fn();
    const own = this.#running.get(owner) ?? new Set();
    this.#running.set(owner, own.add(running));
    try {
      return await running;
    } finally {
      own.delete(running);
      if (own.size === 0) this.#running.delete(owner);
    }
  }

  /**
   * Tells all work to stop, and waits for the work of one owner, or of all.
   * @returns whether it has settled in time
   */
  async stop(owner?: object): Promise<boolean> {
    if (!this.#stop.signal.aborted) {
      this.#deadline = performance.now() + this.#settle;
      this.#stop.abort();
    }
    const late = new AbortController();
    const wait = pass(Math.max(0, this.#deadline - performance.now()), false, { signal: late.signal });
    try {
      return await Promise.race([this.settled(owner).then(() => true), wait]);
    } finally {
      late.abort();
      await wait.catch(() => {});
    }
  }

  /** Without a limit. */
  async settled(owner?: object): Promise<void> {
    const groups = owner ? [this.#running.get(owner) ?? []] : [...this.#running.values()];
    await Promise.allSettled(groups.flatMap((group) => [...group]));
  }
}

/** The application that runs a scheduled method. */
export interface ScheduleHost {
  readonly locks: Locks;
  readonly work: Work;
  readonly moduleRef: ModuleRef;
}

/** What a method tells about its schedule, which runs it once among all instances. */
interface Scheduled {
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
