import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/locks.ts';
import { temporaryFolder } from './folder.ts';
import { type Fault, moduleOf, plant, seenAs, Turn } from './planted.ts';

const errors = moduleOf<typeof import('../../src/core/contract/errors.ts')>('core/contract/errors.ts');
const runtime = moduleOf<typeof import('../../src/core/queue/runtime.ts')>('core/queue/runtime.ts');
const lease = moduleOf<typeof import('../../src/core/queue/held-lease.ts')>('core/queue/held-lease.ts');

/** What a lease of a library with these faults says of itself. */
async function seenWith(...faults: Fault[]): Promise<{ readonly held: boolean; readonly key: string }> {
  using folder = temporaryFolder();
  const library = faults.length > 0 ? await plant(faults, folder.path) : { createLocks, memory };
  await using locks = library.createLocks(library.memory());
  await using taken = await locks.mutex('a').acquire();
  return { held: taken.held, key: taken.key };
}

test('a fault replaces a method or a getter in a copy of the library, and leaves the library as it is', async () => {
  const take = runtime.method(
    'LockRuntime',
    'take',
    (real) =>
      function (_, ...rest) {
        return real.call(this, 'another', ...rest);
      },
  );
  const held = lease.method('HeldLease', 'held', () => () => false);
  expect(await seenWith(take)).toEqual({ held: true, key: 'another' });
  expect(await seenWith(held, take)).toEqual({ held: false, key: 'another' });
  expect(await seenWith()).toEqual({ held: true, key: 'a' });
});

test('a fault replaces an exported function or class wherever another module imports it', async () => {
  using folder = temporaryFolder();
  const quoted = errors.exported('quoted', () => () => 'a broken name');
  const subclass = runtime.exported(
    'LockRuntime',
    (real) =>
      class extends real {
        override take(): never {
          throw new Error('never open');
        }
      },
  );
  const broken = await plant([quoted], folder.path);
  await using locks = broken.createLocks(broken.memory());
  await using _ = await locks.mutex('a').acquire();
  await expect(locks.mutex('a').acquire({ wait: 0 })).rejects.toThrow(/a broken name/);
  await expect(seenWith(subclass)).rejects.toThrow(/never open/);
});

test.each([
  [{ module: 'core/none.ts', at: 'step' }, 'src has no core/none.ts'],
  [{ module: 'core/queue/hold.ts', at: 'none' }, 'core/queue/hold.ts exports no none'],
  [{ module: 'core/queue/hold.ts', at: 'Hold.none' }, 'core/queue/hold.ts has no Hold.none'],
])('a fault in what is no longer there says so: %j', async (place, message) => {
  using folder = temporaryFolder();
  await expect(plant([{ ...place, planted: () => () => {} }], folder.path)).rejects.toThrow(message);
});

test('what is seen as something else keeps its own methods and the rest', () => {
  class Counter {
    #count = 1;
    readonly name: string = 'real';
    next(): number {
      return ++this.#count;
    }
  }
  const counter = new Counter();
  const seen = seenAs(counter, { name: 'seen' });
  expect([seen.name, seen.next(), counter.name, counter.next()]).toEqual(['seen', 2, 'real', 3]);
});

test('a turn is on until the first pause of its function', async () => {
  const turn = new Turn();
  const on: boolean[] = [];
  const act = turn.of(async () => {
    on.push(turn.isOn);
    await undefined;
    on.push(turn.isOn);
  });
  await act();
  expect(on).toEqual([true, false]);
});
