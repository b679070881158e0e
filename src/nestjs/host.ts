import { Logger, SetMetadata } from '@nestjs/common';
import { MetadataScanner, type ModuleRef, type ModulesContainer, Reflector } from '@nestjs/core';
import { invalid, systemClock, withLimit } from '../core/index.ts';
import { type Application, oneApplicationOf } from '../decorator/locks.ts';
import type { Locks } from '../locks.ts';
import { bindObjects, isAlone, isObject, wrappersOf } from './objects.ts';

type Hook = 'onApplicationBootstrap' | 'onModuleDestroy';

/** Wraps a lifecycle hook of an object: `act` runs after the object has started, or before its dependencies end. Nest keeps no other order. */
export function around(object: object, hook: Hook, act: (own: () => unknown) => Promise<unknown>): void {
  const own = (object as Partial<Record<Hook, () => unknown>>)[hook];
  const value = () => act(async () => own?.call(object));
  Reflect.defineProperty(object, hook, { value, configurable: true, writable: true });
}

/** A method of one object of the application. */
export interface MethodPlace {
  readonly owner: Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
  readonly method: string;
  /** `Class.method`, for messages. */
  readonly title: string;
}

/** What a decorator of ours adds to a method. */
export interface Role {
  /** For messages: `@Leading`. */
  readonly decorator: string;
  /**
   * Prepares the method of one object at the start of the application, before anything is scheduled.
   * @throws LockError `LOCK_INVALID` if the method cannot have this role
   */
  prepare(host: LocksHost, place: MethodPlace): unknown;
}

const ROLES = 'holdfast:roles';
const reflector = new Reflector();

const rolesOf = (method: unknown): readonly Role[] =>
  (typeof method === 'function' && reflector.get<readonly Role[] | undefined>(ROLES, method as () => unknown)) || [];

export const addRole = (method: (...args: never[]) => unknown, role: Role): void => {
  SetMetadata(ROLES, [...rolesOf(method), role])(method);
};

/** The state of a candidate. `overdue`: its term ended more than 10 s ago, and its method has not settled. */
export type CandidateState = 'waiting' | 'leading' | 'overdue';

/** A method that takes part in an election. */
interface Candidate {
  /** The name of the election. */
  readonly name: string;
  /** The method as `Class.method`, for messages. */
  readonly title: string;
  state(): CandidateState;
}

/** The work of the application's objects under locks. It has to settle before the objects are destroyed. */
export class Work {
  readonly #settle: number;
  readonly #running = new Map<object, Set<Promise<unknown>>>();
  readonly #stop = new AbortController();
  #deadline = Number.POSITIVE_INFINITY;

  /** @param settle how long to wait for all work, from the first call of `stop`, ms */
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
   * Aborts `stopped`, and waits for the work of one owner, or of all.
   * @returns whether the work has settled in time
   */
  async stop(owner?: object): Promise<boolean> {
    if (!this.#stop.signal.aborted) {
      this.#deadline = performance.now() + this.#settle;
      this.#stop.abort();
    }
    const settled = this.settled(owner).then(() => true);
    const left = Math.max(0, this.#deadline - performance.now());
    return withLimit(settled, left, () => new Error(), systemClock).catch(() => false); // only the limit rejects
  }

  /** Waits for the work of one owner, or of all, without a limit. */
  async settled(owner?: object): Promise<void> {
    const groups = owner ? [this.#running.get(owner) ?? []] : [...this.#running.values()];
    await Promise.allSettled(groups.flatMap((group) => [...group]));
  }
}

/** The locks of one application, and the work of its objects under them. */
export class LocksHost implements Application {
  open = true;
  readonly locks: Locks;
  readonly work: Work;
  readonly candidates: Candidate[] = [];
  readonly logger = new Logger('Locks');
  readonly moduleRef: ModuleRef;
  readonly #modules: ModulesContainer;

  /** @param settle how long a shutdown waits for the work, ms */
  constructor(locks: Locks, settle: number, modules: ModulesContainer, moduleRef: ModuleRef) {
    this.locks = locks;
    this.work = new Work(settle);
    this.moduleRef = moduleRef;
    this.#modules = modules;
  }

  /** Gives every object its locks, and prepares the methods with a role. */
  async start(): Promise<void> {
    try {
      bindObjects(this, this.#modules);
      await this.#prepareAll();
    } catch (error) {
      await this.close(); // the application does not start, so Nest would not close the locks
      throw error;
    }
  }

  /** Stops the rest of the work, and closes the locks. If work does not settle in time, the locks close when it has settled. */
  async close(): Promise<void> {
    this.open = false;
    if (await this.work.stop()) return this.#closeLocks();
    this.logger.warn(
      'work under a lock has not settled in time; its lock is kept until it has, or expires after this process',
    );
    void this.work.settled().then(() => this.#closeLocks());
  }

  /** The shutdown goes on even if the engine fails: a hold that could not be released expires. */
  async #closeLocks(): Promise<void> {
    try {
      await this.locks.close();
    } catch (error) {
      this.logger.error('the locks could not be closed', error instanceof Error ? error.stack : error);
    }
  }

  async #prepareAll(): Promise<void> {
    const scanner = new MetadataScanner();
    const seen = new Set<unknown>();
    for (const wrapper of wrappersOf(this.#modules)) {
      const { instance } = wrapper as { instance: unknown };
      if (!isObject(instance) || seen.has(instance)) continue;
      seen.add(instance);
      for (const method of scanner.getAllMethodNames(Object.getPrototypeOf(instance)))
        await this.#prepare(instance as MethodPlace['owner'], method, isAlone(wrapper));
    }
  }

  async #prepare(owner: MethodPlace['owner'], method: string, alone: boolean): Promise<void> {
    const roles = rolesOf(owner[method]); // a field of the object may hide the method
    const [first] = roles;
    if (!first) return;
    const title = `${owner.constructor.name}.${method}`;
    if (!alone)
      throw invalid(
        `${first.decorator} is on ${title}, whose class is made for each request or user; put it in one that exists once`,
      );
    oneApplicationOf(owner, title); // refuses an object of several applications
    for (const role of roles) await role.prepare(this, { owner, method, title });
    // Makes Nest wait for the work of the object, for a limited time, before it destroys the object.
    around(owner, 'onModuleDestroy', async (own) => {
      if (!(await this.work.stop(owner))) this.logger.warn(`${title} has not settled in time; going down goes on`);
      await own();
    });
  }
}
