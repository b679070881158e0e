import 'reflect-metadata';
import { expect, test, vi } from 'vitest';

/** The package once more, as an application has it that a dependency of its own brings another copy. */
async function copy() {
  vi.resetModules();
  const { createLocks } = await import('../../src/index.ts');
  const { memory } = await import('../../src/backends/memory.ts');
  const { Locked } = await import('../../src/decorator/index.ts');
  const { Locks, LocksModule } = await import('../../src/nestjs/index.ts');
  return { createLocks, memory, Locked, Locks, LocksModule };
}

test('Locks of two copies over one engine exclude each other, and the last one closes it', async () => {
  const [one, other] = [await copy(), await copy()];
  expect(one.createLocks).not.toBe(other.createLocks);
  const engine = one.memory();
  let closed = 0;
  engine.close = async () => void closed++;
  const [first, second] = [one.createLocks(engine), other.createLocks(engine)];
  const lease = await first.mutex('a').acquire();
  expect(await second.mutex('a').tryAcquire()).toBeNull();
  await lease.release();
  await first.close();
  expect(closed).toBe(0);
  await second.mutex('a').run(() => {});
  await second.close();
  expect(closed).toBe(1);
});

test('a class that one copy decorated locks in its application, whose module is of another copy', async () => {
  const [one, other] = [await copy(), await copy()];
  const { started } = await import('../nestjs/application.ts');
  class Orders {
    @one.Locked('key', { onBusy: () => 'busy' })
    async grab(): Promise<string> {
      return 'in';
    }
  }
  const root = () => ({ imports: [other.LocksModule.forRoot({ url: 'memory:' })], providers: [Orders] });
  await using first = await started(root());
  await using second = await started(root());
  await using _ = await first.app.get(other.Locks).mutex('key').acquire();
  expect(await first.app.get(Orders).grab()).toBe('busy');
  expect(await second.app.get(Orders).grab()).toBe('in');
});
