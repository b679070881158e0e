import { Inject, Optional } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { type Application, bindTo } from '../decorator/locks.ts';

/** The token by which Nest injects the application into objects that it makes after the start. */
export const APPLICATION = Symbol('the application of LocksModule');
const application = Symbol('the application of this object');

type Module = ModulesContainer extends Map<string, infer M> ? M : never;
type Wrapper = Module['providers'] extends Map<unknown, infer W> ? W : never;
type Class = new (...args: unknown[]) => object;
type Factory = (...args: unknown[]) => unknown;

/** The wrappers of all that Nest calls or injects in one application, with guards, interceptors, pipes, filters and middleware. */
export function* wrappersOf(modules: ModulesContainer): Iterable<Wrapper> {
  for (const { controllers, providers, injectables, middlewares } of modules.values())
    for (const wrappers of [controllers, providers, injectables, middlewares])
      yield* wrappers.values() as Iterable<Wrapper>;
}

/** Whether Nest makes only one object of the class, and keeps it as long as the application runs. */
export const isAlone = (wrapper: Wrapper): boolean => wrapper.isDependencyTreeStatic() && !wrapper.isTransient;

/** Binds each object to its application: the objects that exist, and those that Nest makes later, one for each request or for each class that injects it. */
export function bindObjects(own: Application, modules: ModulesContainer): void {
  const wrappers = [...wrappersOf(modules)];
  const ownWrapper = wrappers.find(({ token }) => token === APPLICATION)!;
  for (const wrapper of wrappers) {
    const made: unknown[] = isAlone(wrapper)
      ? [wrapper.instance]
      : wrapper.getStaticTransientInstances().map((host) => host?.instance);
    for (const object of made) if (isObject(object)) bindTo(own, object);
    if (!isAlone(wrapper)) bindLater(own, wrapper, ownWrapper);
  }
}

function bindLater(own: Application, wrapper: Wrapper, ownWrapper: Wrapper): void {
  if (typeof wrapper.metatype !== 'function') return;
  if (wrapper.inject) {
    const factory = wrapper.metatype as Factory;
    wrapper.metatype = async (...args: unknown[]) => {
      const made = await factory(...args);
      if (isObject(made)) bindTo(own, made);
      return made;
    };
    return;
  }
  injectInto(wrapper.metatype as unknown as Class);
  // Nest 11 reads the injected properties of a class only once. If Nest has read them already, we add our property to its list.
  if (wrapper.getPropertiesMetadata()) wrapper.addPropertiesMetadata(application, ownWrapper);
}

/** Makes Nest inject the application into each object of a class. So a class may be in several applications. */
function injectInto(made: Class): void {
  if (Object.hasOwn(made.prototype, application)) return;
  Object.defineProperty(made.prototype, application, {
    set(this: object, own: Application) {
      bindTo(own, this);
    },
  });
  const target = { constructor: made };
  Inject(APPLICATION)(target, application);
  Optional()(target, application); // an application without LocksModule has nothing to inject
}

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
