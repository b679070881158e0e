import { Logger, type OnApplicationShutdown, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { MetadataScanner, type ModuleRef, type ModulesContainer } from '@nestjs/core';
import { invalid, shown } from '../core/index.ts';
import { type Application, checkOneApplication } from '../decorator/locks.ts';
import type { Term } from '../leading/term.ts';
import type { Locks } from '../locks.ts';
import { type Candidacy, candidacyOf, LeadingMethod } from './leading.ts';
import { bindObjects, isAlone, isObject, wrappersOf } from './objects.ts';
import { scheduleOf, Work } from './work.ts';

type Hook = 'onApplicationBootstrap' | 'onModuleDestroy';
type WithHooks = Partial<Record<Hook, () => unknown>>;

/**
 * Wraps a lifecycle hook of one object. So it acts in the object's own turn: after the object has started, and before its
 * dependencies end. That is the only order that Nest keeps between modules.
 */
function around(object: object, hook: Hook, act: (own: () => unknown) => Promise<unknown>): void {
  const own = (object as WithHooks)[hook];
  const value = () => act(async () => own?.call(object));
  Reflect.defineProperty(object, hook, { value, configurable: true, writable: true });
}

type Owner = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** The locks of one application, and the work of its objects under them. */
export class LocksHost implements Application {
  open = true;
  readonly locks: Locks;
  readonly work: Work;
  readonly candidates: LeadingMethod[] = [];
  readonly logger = new Logger('Locks');
  readonly moduleRef: ModuleRef;
  readonly #modules: ModulesContainer;
  /** For each election the method that stands for it. */
  readonly #elections = new Map<string, string>();

  /** @param settle how long a shutdown waits for the work, ms */
  constructor(locks: Locks, settle: number, modules: ModulesContainer, moduleRef: ModuleRef) {
    this.locks = locks;
    this.work = new Work(settle);
    this.moduleRef = moduleRef;
    this.#modules = modules;
  }

  /** Gives every object its locks. An object with a leading method is a candidate from its own start to its own end. */
  async start(): Promise<void> {
    try {
      bindObjects(this, this.#modules);
      await this.#lookAtAll();
    } catch (error) {
      await this.close(); // the application does not start, and nobody else would close it
      throw error;
    }
  }

  /**
   * Stops the rest of the work, and closes the locks. Work that has not settled keeps its lock until it has, or until the
   * process ends.
   */
  async close(): Promise<void> {
    this.open = false;
    if (await this.work.stop()) return this.#closeLocks();
    this.logger.warn(
      'work under a lock has not settled in time; its lock is kept until it has, or expires after this process',
    );
    void this.work.settled().then(() => this.#closeLocks());
  }

  /** The shutdown goes on, even if the engine fails. What could not be released expires. */
  async #closeLocks(): Promise<void> {
    try {
      await this.locks.close();
    } catch (error) {
      this.logger.error('the locks could not be closed', error instanceof Error ? error.stack : error);
    }
  }

  async #lookAtAll(): Promise<void> {
    const scanner = new MetadataScanner();
    const seen = new Set<unknown>();
    for (const wrapper of wrappersOf(this.#modules)) {
      const { instance } = wrapper as { instance: unknown };
      if (!isObject(instance) || seen.has(instance)) continue;
      seen.add(instance);
      for (const method of scanner.getAllMethodNames(Object.getPrototypeOf(instance)))
        await this.#lookAt(instance as Owner, method, isAlone(wrapper));
    }
  }

  async #lookAt(owner: Owner, method: string, alone: boolean): Promise<void> {
    const work: unknown = owner[method]; // a field may hide the method
    const candidacy = typeof work === 'function' ? candidacyOf(work as () => unknown) : undefined;
    const scheduled = typeof work === 'function' ? scheduleOf(work as () => unknown) : undefined;
    if (!candidacy && !scheduled) return;
    const title = `${owner.constructor.name}.${method}`;
    if (!alone)
      throw invalid(
        `${candidacy ? '@Leading' : '@OnceCron'} is on ${title}, whose class is made for each request or user; put it in one that exists once`,
      );
    checkOneApplication(owner, title);
    if (candidacy) this.#stand(owner, method, candidacy, title);
    await scheduled?.prepare(this, owner);
    this.#settleBeforeEnd(owner, title);
  }

  #stand(owner: Owner, method: string, candidacy: Candidacy, title: string): void {
    const other = this.#elections.get(candidacy.name);
    if (other !== undefined)
      throw invalid(
        `${title} and ${other} have one name, ${shown(candidacy.name)}, so that only one of them would lead; name them apart`,
      );
    this.#elections.set(candidacy.name, title);
    const candidate = new LeadingMethod(
      this.locks,
      candidacy,
      title,
      (term: Term) => owner[method]!(term),
      this.logger,
    );
    this.candidates.push(candidate);
    const { work } = this;
    around(owner, 'onApplicationBootstrap', async (own) => {
      await own();
      if (!work.stopped.aborted) void work.run(owner, () => candidate.campaign(work.stopped));
    });
  }

  /** Nest destroys the object after its work has settled. */
  #settleBeforeEnd(owner: object, title: string): void {
    around(owner, 'onModuleDestroy', async (own) => {
      if (!(await this.work.stop(owner))) this.logger.warn(`${title} has not settled in time; going down goes on`);
      await own();
    });
  }
}

/**
 * Begins the work under locks. Nest starts global modules first. So each object knows its locks before its own start, in which
 * it may take one.
 */
export const startup = (host: LocksHost): OnModuleInit => ({ onModuleInit: () => host.start() });

/**
 * Ends the work under locks, and then the locks. Nest destroys a module before the modules that it imports, and global ones
 * last. So this provider belongs to the module that the application imports. In the global module it would come after
 * connections are closed. Each object's work stops before the object, so most has stopped by then; at the end of the shutdown the
 * last requests have ended.
 */
export const shutdown = (host: LocksHost): OnModuleDestroy & OnApplicationShutdown => ({
  onModuleDestroy: () => host.work.stop(),
  onApplicationShutdown: () => host.close(),
});
