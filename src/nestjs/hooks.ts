type Hook = 'onApplicationBootstrap' | 'onModuleDestroy';
type Hooked = Partial<Record<Hook, () => unknown>>;

/**
 * Does something around a lifecycle hook of one object. So it happens in the object's own turn: after it has started, and before
 * anything it depends on ends, which is the one order that Nest keeps between modules.
 */
export function around(object: object, hook: Hook, act: (own: () => unknown) => Promise<unknown>): void {
  const own = (object as Hooked)[hook];
  const value = () => act(async () => own?.call(object));
  Reflect.defineProperty(object, hook, { value, configurable: true, writable: true });
}
