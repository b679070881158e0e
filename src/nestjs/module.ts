import {
  type DynamicModule,
  Inject,
  type InjectionToken,
  Module,
  type ModuleMetadata,
  type OptionalFactoryDependency,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import {
  type Backend,
  checkGiven,
  checkNames,
  type Duration,
  flag,
  invalid,
  milliseconds,
  namesOf,
  shown,
} from '../core/index.ts';
import { createLocks, Locks, type LocksDefaults } from '../locks.ts';
import { LocksHealthIndicator } from './health.ts';
import { LocksHost, shutdown, startup } from './host.ts';
import { APPLICATION } from './objects.ts';

/** One of `url`, `backend` and `locks` says where the locks are. The module closes them when the application has ended. */
export interface LocksModuleOptions {
  /** As for `connect(url)`: `redis://127.0.0.1`, `file:./locks.db`… The module has a connection of its own. */
  readonly url?: string | readonly string[];
  /** A backend with a client of yours, `redis(client)` for example. The client stays open. */
  readonly backend?: Backend;
  /** Locks that you made elsewhere. */
  readonly locks?: Locks;
  /** The options of every lock. With `url` or `backend`. */
  readonly defaults?: LocksDefaults;
  /**
   * How long a shutdown waits for leading and scheduled methods to settle, before connections close. Default 10 s, at most an
   * hour; 0 does not wait.
   */
  readonly settle?: Duration;
}

/** Which modules see the locks. */
export interface Visibility {
  /** Whether every module has the locks without an import. Default true. */
  readonly isGlobal?: boolean;
}

/** Makes options: the class of `useClass` and `useExisting`. */
export interface LocksOptionsFactory {
  /** Called once, at the start of the application. */
  createLocksOptions(): LocksModuleOptions | Promise<LocksModuleOptions>;
}

/** One of `useFactory`, `useClass` and `useExisting` makes the options. */
export interface LocksModuleAsyncOptions extends Visibility {
  /** Modules whose providers the factory needs. */
  readonly imports?: ModuleMetadata['imports'];
  /** The arguments of the factory. */
  readonly inject?: readonly (InjectionToken | OptionalFactoryDependency)[];
  /** Makes the options. Give this one, `useClass` or `useExisting`. */
  readonly useFactory?: (...args: never[]) => LocksModuleOptions | Promise<LocksModuleOptions>;
  /** A class that makes the options; Nest makes an instance of it. */
  readonly useClass?: Type<LocksOptionsFactory>;
  /** An existing provider that makes the options. */
  readonly useExisting?: InjectionToken<LocksOptionsFactory>;
}

const ASYNC = namesOf<LocksModuleAsyncOptions & { isGlobal?: boolean }>({
  imports: true,
  inject: true,
  useFactory: true,
  useClass: true,
  useExisting: true,
  isGlobal: true,
});
const OPTIONS = Symbol('the options of LocksModule');
const STARTUP = Symbol('the start of LocksModule');
const SHUTDOWN = Symbol('the end of LocksModule');

/** Provides the locks. It is global, so the module that imports it decides when they end. */
class LocksCoreModule {}
Module({})(LocksCoreModule);

/** Binds every object to its application. Global even if `isGlobal` is false: an object may lock where `Locks` cannot be injected. */
class LocksObjectsModule {}
Module({})(LocksObjectsModule);

/**
 * Gives an application its locks: `Locks` to inject, `@Locked` and `@Leading` methods, `LocksHealthIndicator`. The root module
 * imports it once. On shutdown leaders stop first, and the locks close when requests have ended.
 */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class LocksModule {
  /**
   * @throws LockError `LOCK_INVALID`
   * @example
   * ```ts
   * import { Module } from '@nestjs/common';
   * @Module({ imports: [LocksModule.forRoot({ url: 'redis://127.0.0.1' })] })
   * class AppModule {}
   * ```
   */
  static forRoot(options: LocksModuleOptions & Visibility): DynamicModule {
    const { isGlobal, ...others } = options ?? {};
    modulePlan(others); // reports errors now, where they were written
    return assemble(isGlobal, [], [{ provide: OPTIONS, useValue: others }]);
  }

  /**
   * @throws LockError `LOCK_INVALID`; for options that turn out to be wrong, when the application starts
   * @example
   * import { Redis } from 'ioredis';
   * LocksModule.forRootAsync({
   *   inject: [Redis],
   *   useFactory: (client: Redis) => ({ backend: redis(client) }),
   * });
   */
  static forRootAsync(options: LocksModuleAsyncOptions): DynamicModule {
    checkGiven(options, ASYNC, 'the options of LocksModule.forRootAsync()');
    return assemble(options.isGlobal, options.imports ?? [], optionsOf(options));
  }
}
Module({})(LocksModule);

/**
 * Injects the `Locks` of the application. It names them itself, so it also works where a linter has made their import a type only, which
 * Nest cannot see.
 * @example const inject = InjectLocks(); // in a class: constructor(@InjectLocks() locks: Locks)
 */
export const InjectLocks = (): ReturnType<typeof Inject> => Inject(Locks);

function optionsOf({ inject = [], useFactory, useClass, useExisting }: LocksModuleAsyncOptions): Provider[] {
  const given = Object.entries({ useFactory, useClass, useExisting }).filter(([, value]) => value !== undefined);
  if (given.length !== 1) {
    const names = given.map(([name]) => name).join(' and ') || 'none';
    throw invalid(
      `LocksModule.forRootAsync() needs one of useFactory, useClass and useExisting; it was given ${names}`,
    );
  }
  if (useFactory) {
    const factory = useFactory as (...args: unknown[]) => unknown;
    return [{ provide: OPTIONS, inject: [...inject], useFactory: factory }];
  }
  const token = useClass ?? useExisting!;
  const made: Provider = {
    provide: OPTIONS,
    inject: [token],
    useFactory: (factory: LocksOptionsFactory) => factory.createLocksOptions(),
  };
  return useClass ? [{ provide: useClass, useClass }, made] : [made];
}

function assemble(
  isGlobal = true,
  imports: NonNullable<ModuleMetadata['imports']>,
  options: Provider[],
): DynamicModule {
  const core: DynamicModule = {
    module: LocksCoreModule,
    global: flag(isGlobal, 'isGlobal'),
    imports: [...imports],
    providers: [
      ...options,
      {
        provide: LocksHost,
        inject: [OPTIONS, ModulesContainer, ModuleRef],
        useFactory: async (given: LocksModuleOptions, modules: ModulesContainer, ref: ModuleRef) => {
          checkAlone(modules);
          const plan = modulePlan(given);
          return new LocksHost(await plan.open(), plan.settle, modules, ref);
        },
      },
      { provide: Locks, inject: [LocksHost], useFactory: ({ locks }: LocksHost) => locks },
      {
        provide: LocksHealthIndicator,
        inject: [LocksHost],
        useFactory: (host: LocksHost) =>
          new LocksHealthIndicator(host.locks, (wanted) =>
            host.candidates.flatMap(({ name, state }) => (state === wanted ? [name] : [])),
          ),
      },
    ],
    exports: [LocksHost, Locks, LocksHealthIndicator],
  };
  const objects: DynamicModule = {
    module: LocksObjectsModule,
    global: true,
    imports: [core],
    providers: [
      { provide: APPLICATION, inject: [LocksHost], useFactory: (host: LocksHost) => host },
      { provide: STARTUP, inject: [LocksHost], useFactory: startup },
    ],
    exports: [APPLICATION],
  };
  return {
    module: LocksModule,
    imports: [core, objects],
    providers: [{ provide: SHUTDOWN, inject: [LocksHost], useFactory: shutdown }],
    exports: [LocksCoreModule],
  };
}

const NAMES = namesOf<LocksModuleOptions>({ url: true, backend: true, locks: true, defaults: true, settle: true });
const DEFAULT_SETTLE_MS = 10_000;
const MAX_SETTLE_MS = 3_600_000;

/** @throws LockError `LOCK_INVALID`, naming the option and what it must be */
function modulePlan(options: LocksModuleOptions) {
  if (typeof options !== 'object' || options === null)
    throw invalid(
      `the options of LocksModule are ${shown(options)}; give an object such as { url: 'redis://127.0.0.1' }`,
    );
  checkNames(options, NAMES, 'the options of LocksModule');
  const { url, backend, locks, defaults, settle = DEFAULT_SETTLE_MS } = options;
  const given = Object.entries({ url, backend, locks }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length !== 1)
    throw invalid(`LocksModule needs one of url, backend and locks; it was given ${given.join(' and ') || 'none'}`);
  if (locks !== undefined && typeof locks?.mutex !== 'function')
    throw invalid(`locks is ${shown(locks)}; make it with createLocks(backend), or give a url`);
  if (locks !== undefined && defaults !== undefined)
    throw invalid('defaults go with url or backend; locks that are made already have their own');
  return {
    settle: milliseconds(settle, 'settle', { min: 0, max: MAX_SETTLE_MS }),
    async open(): Promise<Locks> {
      if (locks) return locks;
      if (backend) return createLocks(backend, defaults);
      // Imported here, so that an application with a backend of its own does not load all others.
      const { connect } = await import('../connect/index.ts');
      return connect(url!, defaults);
    },
  };
}

/** With two modules a method could belong to either of two `Locks`. @throws LockError `LOCK_INVALID` */
function checkAlone(modules: ModulesContainer): void {
  if ([...modules.values()].filter(({ metatype }) => metatype === LocksCoreModule).length > 1)
    throw invalid(
      'LocksModule is imported twice with options; import it once, in the root module, and give other locks to @Locked by its option `locks`',
    );
}
