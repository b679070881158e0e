import { invalid } from '../core/index.ts';

/** What a decorator can wrap: only a method that returns a promise. */
export type Method = (...args: never[]) => Promise<unknown>;

export interface DecoratedMethod {
  readonly name: string;
  readonly method: Method;
  /** Puts the new method in the place of the old one. @returns what the decorator has to return */
  put(method: Method): Method | undefined;
}

/**
 * Finds out, from the arguments of a standard or legacy decorator, what was decorated.
 * @param decorator its name, for messages
 */
export function placeOf([first, second, third]: readonly unknown[], decorator: string): DecoratedMethod {
  const context = isContext(second) ? second : undefined;
  const descriptor = third as TypedPropertyDescriptor<Method> | undefined;
  const name = String(context?.name ?? second ?? (first as { name?: unknown } | undefined)?.name);
  const method = context ? first : descriptor?.value;
  if ((context && context.kind !== 'method') || !isMethod(method))
    throw invalid(
      `${decorator} is on ${name}, but it goes on a method that returns a promise, not on a class, field, accessor, parameter or generator`,
    );
  const put = (wrapped: Method): Method | undefined => {
    copyMetadata(method, wrapped);
    if (context) return wrapped;
    descriptor!.value = wrapped;
    return undefined;
  };
  return { name, method, put };
}

const isContext = (value: unknown): value is { kind: string; name: string | symbol } =>
  typeof value === 'object' && value !== null && 'kind' in value;

/** Refuses a generator: its body would run after the release of the lock. */
export const isMethod = (value: unknown): value is Method =>
  typeof value === 'function' && !Object.prototype.toString.call(value).includes('Generator');

/** Copies what `reflect-metadata` keeps with a function: the data of a framework's decorators, such as a route. */
function copyMetadata(from: Method, to: Method): void {
  const { getOwnMetadataKeys, getOwnMetadata, defineMetadata } = Reflect as Partial<typeof Reflect>;
  for (const key of getOwnMetadataKeys?.(from) ?? []) defineMetadata?.(key, getOwnMetadata?.(key, from), to);
}
