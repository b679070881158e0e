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
import { checkGiven, flag, invalid, namesOf } from '../core/index.ts';
import { Locks } from '../locks.ts';
import { LocksHealthIndicator } from './health.ts';
import { LocksHost } from './host.ts';
import { APPLICATION } from './objects.ts';
import { type LocksModuleOptions, modulePlan } from './options.ts';

/** Which modules see the locks. */
export interface Visibility {
  /** Whether every module has the locks without an import. Default true. */
  readonly isGlobal?: boolean;
}

/** The class of `useClass` and `useExisting`. */
export interface LocksOptionsFactory {
  /** Makes the options, once, at the start of the application. */
  createLocksOptions(): LocksModuleOptions | Promise<LocksModuleOptions>;
}

/** One of `useFactory`, `useClass` and `useExisting` makes the options. */
export interface LocksModuleAsyncOptions extends Visibility {
  /** Modules whose providers the factory needs. */
  readonly imports?: ModuleMetadata['imports'];
  /** The arguments of the factory. */
  readonly inject?: readonly (InjectionToken | OptionalFactoryDependency)[];
  /** Makes the options. */
  readonly useFactory?: (...args: never[]) => LocksModuleOptions | Promise<LocksModuleOptions>;
  /** A class that makes the options; Nest makes an instance of it. */
  readonly useClass?: Type<LocksOptionsFactory>;
  /** An existing provider that makes the options. */
  readonly useExisting?: InjectionToken<LocksOptionsFactory>;
}

const ASYNC = namesOf<LocksModuleAsyncOptions>({
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

/** Provides the locks. The provider `SHUTDOWN`, in the module that imports this one, closes them. */
class LocksCoreModule {}
Module({})(LocksCoreModule);

/** Binds every object to its application. Global even if `isGlobal` is false: an object may lock where Nest cannot inject `Locks`. */
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
    modulePlan(others); // wrong options throw now, not at the start
    return assemble(isGlobal, [], [{ provide: OPTIONS, useValue: others }]);
  }

  /**
   * @throws LockError `LOCK_INVALID`; for wrong options that the factory makes, only when the application starts
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
 * Injects the `Locks` of the application without reading the type of the parameter. So it works even if a linter has made the import of
 * `Locks` type-only: Nest does not see such a type.
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
  if (useFactory)
    return [{ provide: OPTIONS, inject: [...inject], useFactory: useFactory as (...args: unknown[]) => unknown }];
  const token = useClass ?? useExisting!;
  const made: Provider = {
    provide: OPTIONS,
    inject: [token],
    useFactory: (factory: LocksOptionsFactory) => factory.createLocksOptions(),
  };
  return useClass ? [{ provide: useClass, useClass }, made] : [made];
}

/** A provider that is made from the host. */
const ofHost = (provide: InjectionToken, useFactory: (host: LocksHost) => unknown): Provider => ({
  provide,
  inject: [LocksHost],
  useFactory,
});

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
      ofHost(Locks, ({ locks }) => locks),
      ofHost(LocksHealthIndicator, ({ locks, candidates }) => {
        return new LocksHealthIndicator(locks, (wanted) =>
          candidates.flatMap(({ name, state }) => (state() === wanted ? [name] : [])),
        );
      }),
    ],
    exports: [LocksHost, Locks, LocksHealthIndicator],
  };
  const objects: DynamicModule = {
    module: LocksObjectsModule,
    global: true,
    imports: [core],
    providers: [
      ofHost(APPLICATION, (host) => host),
      // Nest starts global modules first. So each object knows its locks before it starts, and may take a lock in its start.
      ofHost(STARTUP, (host) => ({ onModuleInit: () => host.start() })),
    ],
    exports: [APPLICATION],
  };
  return {
    module: LocksModule,
    imports: [core, objects],
    providers: [
      // Nest destroys a module before the modules that it imports, and global modules last. So this provider is in the module that the
      // application imports: in a global module it would run when connections are closed already.
      ofHost(SHUTDOWN, (host) => ({
        onModuleDestroy: () => host.work.stop(),
        onApplicationShutdown: () => host.close(), // by now the last requests have ended
      })),
    ],
    exports: [LocksCoreModule],
  };
}

/** If LocksModule were imported twice, a method could belong to either of two `Locks`. @throws LockError `LOCK_INVALID` */
function checkAlone(modules: ModulesContainer): void {
  if ([...modules.values()].filter(({ metatype }) => metatype === LocksCoreModule).length > 1)
    throw invalid(
      'LocksModule is imported twice with options; import it once, in the root module, and give other locks to @Locked by its option `locks`',
    );
}
