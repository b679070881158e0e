import { once } from 'node:events';
import { setTimeout as pass } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { currentLease, Locked, locked, lockedBy, useLocks } from '../../src/decorator/index.ts';
import { createLocks, type LockError, type Locks, type SharedLease } from '../../src/index.ts';

let locks: Locks;
let before: Disposable;
beforeEach(() => {
  locks = createLocks(memory());
  before = useLocks(locks);
});
afterEach(async () => {
  before[Symbol.dispose]();
  await locks.close();
});

const keys = async (): Promise<string[]> => {
  const seen: string[] = [];
  for await (const { key } of locks.inspect()) seen.push(key);
  return seen;
};

class Stage {
  readonly name = 'stage';
  inside = 0;
  most = 0;

  @Locked('order:{0}')
  async work(order: number, failing = false): Promise<string> {
    this.most = Math.max(this.most, ++this.inside);
    await pass(2);
    this.inside--;
    if (failing) throw new RangeError('mine');
    return `${this.name} ${order}`;
  }

  @Locked('order:{0.id}', { onBusy: 'skip' })
  async skipping(_order: { id: number }): Promise<void> {
    this.inside++;
  }
}

test('a method runs alone under its key, with its own this, result and error', async () => {
  const stage = new Stage();
  expect(await Promise.all([stage.work(1), stage.work(1), stage.work(1)])).toEqual(Array(3).fill('stage 1'));
  expect(stage.most).toBe(1);
  await Promise.all([stage.work(1), stage.work(2)]);
  expect(stage.most).toBe(2);
  await expect(stage.work(1, true)).rejects.toThrow(RangeError);
  expect(await keys()).toEqual([]);
  expect(stage.work.name).toBe('work');
  expect(stage.work.length).toBe(1);
});

test('skip gives undefined, at once, and does not run it', async () => {
  const stage = new Stage();
  await using _ = await locks.mutex('order:7').acquire();
  expect(await stage.skipping({ id: 7 })).toBeUndefined();
  expect(stage.inside).toBe(0);
  await stage.skipping({ id: 8 });
  expect(stage.inside).toBe(1);
});

test('a wait that is undefined is not given: busy still means something', async () => {
  await using _ = await locks.mutex('k').acquire();
  expect(await locked({ key: 'k', onBusy: 'skip', wait: undefined }, async () => 1)()).toBeUndefined();
});

test.each([
  ['{0}', ['a'], 'k:a'],
  ['{0}:{1}', ['a', 2n], 'k:a:2'],
  ['{0.id}', [{ id: 5 }], 'k:5'],
  ['{order.buyer.name}', [{ buyer: { name: 'Li' } }], 'k:Li'],
  ['{flag}', [{}, true], 'k:true'],
])('the template %s makes its key', async (template, args, key) => {
  const held = locked({ key: `k:${template}` }, async (order: unknown, flag?: unknown) => {
    expect([order, flag].length).toBe(2);
    return keys();
  });
  expect(await held(...(args as [unknown, unknown]))).toEqual([key]);
});

test('names are found in any parameter list', async () => {
  const list = async (
    { a } = { a: ')' }, // a, b)
    last = [1, (2 + 3) * 4].length,
  ): Promise<string[]> => [a, `${last}`, ...(await keys())];
  expect(await locked({ key: 'k:{last}' }, list)(undefined, 9)).toEqual([')', '9', 'k:9']);
});

test.each([
  ['a regular expression with a bracket in it', 'async (a = /[)]/, b) => keys()'],
  ['a regular expression with a quote in it', `async (a = /'/, b, c = /'/) => keys()`],
  ['a regular expression that looks like a comment', `async (a = /[/*]/, b, c = '*/') => keys()`],
  ['a division', 'async (a = 4 / 2, b = 3 / 1) => keys()'],
  ['text with code in it', `async (a = \`\${\`)\`}\`, b) => keys()`],
  ['two parameters of one name', 'async function f(b, b) { return keys(); }'],
  ['names that a minifier gave', 'async(a,b)=>keys()'],
  ['the name that a minifier gave', 'async b=>keys()'],
  ['a minified method', '({async f(a,b){return keys()}}).f'],
])('an argument is never guessed by name: %s', async (_title, source) => {
  const list = new Function('keys', `return ${source}`)(keys) as (a: unknown, b: unknown) => Promise<string[]>;
  expect(() => locked({ key: 'k:{b}' }, list)).toThrow(/not the name of a parameter.*count them instead/);
  expect(await locked({ key: 'k:{1}' }, list)(1, 2)).toEqual(['k:2']);
});

test('an argument is found by its number also where the source has no parameter for it', async () => {
  const list = async (...args: unknown[]): Promise<unknown[]> => [args, await keys()];
  // What another decorator wraps a method with, and what a compiler makes of a default for engines without it.
  function wrapping(): Promise<unknown[]> {
    // biome-ignore lint/complexity/noArguments: it is about these
    return Reflect.apply(list, undefined, arguments);
  }
  const call = locked({ key: 'order:{1}' }, wrapping as typeof list);
  expect(await call('x', 7)).toEqual([['x', 7], ['order:7']]);
});

test('without a key it is the name and the first argument; with a function what it says', async () => {
  class Plain {
    @Locked()
    async nothing(): Promise<string[]> {
      return keys();
    }
    @Locked({ ttl: '5s' })
    async one(_id: string): Promise<string[]> {
      return keys();
    }
    @Locked((order: { id: number }) => `by:${order.id}`)
    async typed(_order: { id: number; more: boolean }, _other: string): Promise<string[]> {
      return keys();
    }
  }
  const plain = new Plain();
  expect(await plain.nothing()).toEqual(['nothing']);
  expect(await plain.one('x')).toEqual(['one:x']);
  expect(await plain.typed({ id: 3, more: true }, '')).toEqual(['by:3']);
});

test('private and static methods are locked too', async () => {
  class Secret {
    @Locked('private')
    async #own(): Promise<string[]> {
      return keys();
    }
    @Locked('static')
    static async all(): Promise<string[]> {
      return keys();
    }
    own(): Promise<string[]> {
      return this.#own();
    }
  }
  expect(await new Secret().own()).toEqual(['private']);
  expect(await Secret.all()).toEqual(['static']);
});

test('currentLease is the lease of the innermost method, and an error outside', async () => {
  const inner = locked({ key: 'inner' }, async () => [currentLease().key, currentLease().token]);
  const outer = locked({ key: 'outer' }, async () => [...(await inner()), currentLease().key, currentLease().held]);
  expect(await outer()).toEqual(['inner', expect.any(BigInt), 'outer', true]);
  expect(() => currentLease()).toThrow(/outside a method/);
});

test('readers share, a writer excludes them, permits count', async () => {
  const both = async (kind: 'read' | 'write'): Promise<boolean> => {
    let inside = 0;
    let most = 0;
    const work = locked({ key: 'k', kind }, async () => {
      most = Math.max(most, ++inside);
      await pass(5);
      inside--;
    });
    await Promise.all([work(), work()]);
    return most === 2;
  };
  expect(await both('read')).toBe(true);
  expect(await both('write')).toBe(false);
  const three = locked({ key: 'p', permits: 3, units: 2 }, async () => {
    const seen = [];
    for await (const { units, capacity } of locks.inspect('p')) seen.push([units, capacity]);
    return [seen, currentLease<SharedLease>().token];
  });
  expect(await three()).toEqual([[[2, 3]], undefined]);
});

test('retries ask again, so often and no more', async () => {
  let calls = 0;
  const held = await locks.mutex('k').acquire();
  const options = { key: 'k', spin: { pause: 1, bound: 4 } };
  const work = locked({ ...options, retries: 1_000 }, async () => ++calls);
  const running = work();
  await pass(20);
  expect(calls).toBe(0);
  await expect(locked({ ...options, retries: 2 }, async () => ++calls)()).rejects.toMatchObject({
    code: 'LOCK_TIMEOUT',
  });
  await held.release();
  expect(await running).toBe(1);
});

test("onBusy's function answers for the method, and sees its arguments; a timeout inside the method is the method's", async () => {
  await using _ = await locks.mutex('k').acquire();
  const work = locked(
    { key: 'k', onBusy: (error: LockError, id: number) => `${error.code} ${id}` },
    async (id: number) => `did ${id}`,
  );
  expect(await work(4)).toBe('LOCK_TIMEOUT 4');
  const nested = locked({ key: 'free', onBusy: 'skip' }, () => locks.mutex('k').run(async () => {}, { wait: 0 }));
  await expect(nested()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: 'k' });
});

test.each(['tell', 'throw'] as const)('a loss is told to the method by its signal; onLoss %s', async (onLoss) => {
  const work = locked({ key: 'k', onLoss, renew: false, ttl: 60 }, async () => {
    const { signal } = currentLease();
    await once(signal, 'abort');
    return signal.reason.code;
  });
  if (onLoss === 'tell') expect(await work()).toBe('LOCK_LOST');
  else await expect(work()).rejects.toMatchObject({ code: 'LOCK_LOST', outcome: { value: 'LOCK_LOST' } });
});

test('calls with different keys learn from each other how long a lease has to be', async () => {
  const work = locked({ key: 'report:{0}', ttl: 50, adaptive: { cap: '1m' } }, async (_id: number, ms: number) => {
    const { remaining } = currentLease();
    await pass(ms);
    return remaining;
  });
  expect(await work(1, 60)).toBeLessThan(50);
  expect(await work(2, 0)).toBeGreaterThan(60);
});

test('the Locks are those of the option, else of the class, else the shared ones; a test may exchange them', async () => {
  const [a, b] = [createLocks(memory()), createLocks(memory())];
  class Owner {
    get [lockedBy](): Locks {
      return a;
    }
    @Locked('k')
    async own(): Promise<void> {}
    @Locked('k', { locks: b })
    async given(): Promise<void> {}
  }
  await a.close();
  await expect(new Owner().own()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  await new Owner().given();
  await b.close();
  await expect(new Owner().given()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });

  const work = locked({ key: 'k' }, keys);
  {
    using _ = useLocks(b);
    await expect(work()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  }
  expect(await work()).toEqual(['k']);
});

const method = async (_a: number, _b: number): Promise<void> => {};
test.each<[string, () => unknown, RegExp]>([
  [
    'an argument that is not there',
    () => locked({ key: '{2}' }, method),
    /^\{2\} .* 2 parameters, counted from \{0\}$/,
  ],
  [
    'a name that is no parameter',
    () => locked({ key: '{order.id}' }, method),
    /^\{order\} .* not the name of a parameter/,
  ],
  ['an empty hole', () => locked({ key: 'a{}' }, method), /is no argument; write \{0\}/],
  ['half a brace', () => locked({ key: 'a{0' }, method), /brace that is not closed/],
  ['an unknown option', () => Locked('k', { wiat: 1 } as never), /"wiat" is not one of the options of @Locked/],
  ['an unknown kind', () => Locked('k', { kind: 'rw' as never }), /^kind is "rw"; it must be "mutex" or/],
  ['half a retry', () => Locked('k', { retries: 0.5 }), /^retries is 0.5/],
  ['units without permits', () => Locked('k', { units: 1 }), /give permits too/],
  ['a key that is none', () => Locked(5 as never), /^key is 5/],
  ['a generator', () => locked({ key: 'k' }, async function* () {} as never), /needs a function/],
  ['a key in place of the options', () => locked('k' as never, async () => {}), /must be an object, not "k"/],
  ['a nameless function', () => locked({}, async () => {}), /needs a key/],
  [
    'a field',
    () => (Locked('k') as never as Decorate)(undefined, { kind: 'field', name: 'f' }),
    /@Locked is on f, but/,
  ],
  ['a legacy field', () => (Locked('k') as never as Decorate)({}, 'f'), /@Locked is on f, but/],
  ['a legacy class', () => (Locked('k') as never as Decorate)(class Foo {}), /@Locked is on Foo, but/],
  ['a legacy parameter', () => (Locked('k') as never as Decorate)({}, 'f', 0), /@Locked is on f, but/],
])('refuses at once: %s', (_what, act, message) => {
  expect(act).toThrow(expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(message) }));
});
type Decorate = (...args: unknown[]) => unknown;

test.each<[string, unknown, RegExp]>([
  ['undefined', undefined, /^\{0\} of a call to .* is undefined, which makes no key/],
  ['an object', {}, /is an object/],
  ['nothing', '', /is ""/],
  ['NaN', Number.NaN, /is NaN/],
])('a call whose key would hold %s is refused, unlocked and not run', async (_what, value, message) => {
  let ran = false;
  const work = locked({ key: 'k:{0}' }, async (_value: unknown) => {
    ran = true;
  });
  await expect(work(value)).rejects.toThrow(message);
  expect(ran).toBe(false);
});

test('without any Locks a call says how to give them', async () => {
  using _ = useLocks(undefined as never);
  await expect(locked({ key: 'k' }, method)(1, 2)).rejects.toThrow(/call useLocks\(createLocks\(…\)\) at the start/);
});

test('the compiler refuses what is not async, what onBusy cannot give, and a key of something else', () => {
  class Typed {
    // @ts-expect-error: not async
    @Locked('k')
    sync(): number {
      return 1;
    }
    // @ts-expect-error: skipping would give undefined where a number is promised
    @Locked('k', { onBusy: 'skip' })
    async skipped(): Promise<number> {
      return 1;
    }
    @Locked('k', { onBusy: () => 0 })
    async answered(): Promise<number> {
      return 1;
    }
    // @ts-expect-error: so does the function that stands in
    @Locked('k', { onBusy: (_, name: string) => name })
    async stoodIn(_id: number): Promise<string> {
      return '';
    }
    // @ts-expect-error: the key's function takes something else
    @Locked((name: string) => name)
    async keyed(_id: number): Promise<void> {}
  }
  const same: () => Promise<number> = new Typed().answered;
  expect(same.name).toBe('answered');
});
