type Hook = 'onApplicationBootstrap' | 'onModuleDestroy';
type WithHooks = Partial<Record<Hook, () => unknown>>;

/**
 * Wraps a lifecycle hook of one object. So it acts in the object's own turn: after the object has started, and before its
 * dependencies end. That is the only order that Nest keeps between modules.
 */
export function around(object: object, hook: Hook, act: (own: () => unknown) => Promise<unknown>): void {
  const own = (object as WithHooks)[hook];
  const value = () => act(async () => own?.call(object));
  Reflect.defineProperty(object, hook, { value, configurable: true, writable: true });
}
