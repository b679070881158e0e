/** What is kept is in no error, no warning and no mark; what is kept of an error has bounds. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type LockError, type MemoOptions } from '../../src/index.ts';
import { warned } from './warned.ts';

const SECRET = 'a secret word';
const thrown = (): never => {
  throw Object.assign(new SyntaxError(`${SECRET} is not valid`), { cause: SECRET });
};
const plain = { seal: (text: string) => text, open: (text: string) => text };
/** A cipher that needs no key. */
const seal = {
  seal: (text: string) => Buffer.from(text).toString('hex'),
  open: (text: string) => Buffer.from(text, 'hex').toString(),
};

let warnings: ReturnType<typeof warned>;
beforeEach(() => {
  warnings = warned();
});
afterEach(() => warnings[Symbol.dispose]());

/** A key warns once in a process, so each time another key. */
let keys = 0;

/** What was rejected during `act`, and nobody has caught. */
async function uncaughtIn(act: () => Promise<unknown>): Promise<readonly unknown[]> {
  const uncaught: unknown[] = [];
  const hear = (error: unknown): void => void uncaught.push(error);
  process.on('unhandledRejection', hear);
  try {
    await act();
    await new Promise(setImmediate);
  } finally {
    process.off('unhandledRejection', hear);
  }
  return uncaught;
}

/** All that is stored, told and thrown, of a run and of a call after it. */
async function all(key: string, options: MemoOptions, fn: () => unknown = () => SECRET) {
  const engine = memory();
  const memo = createLocks(engine).memo(key, { keep: '1h', ...options });
  const first = await memo.run(fn).catch((error) => error);
  const later = await memo.run(() => expect.fail('it is run again')).catch((error) => error);
  const peeked = await memo.peek().catch((error) => ({ error }));
  const errors: LockError[] = [first, later, (peeked as { error: LockError }).error];
  const { text = '' } = (await engine.values!.look(key)).value ?? {};
  return { text, errors, told: warnings.told };
}
/** Errors as a logger writes them, with their causes. */
const logged = ({ text, errors, told }: Awaited<ReturnType<typeof all>>): string =>
  [text, ...told, ...errors.map((error) => `${error?.stack} ${error?.cause} ${JSON.stringify(error)}`)].join('\n');

describe.each<[string, MemoOptions]>([
  ['encode()', { encode: thrown }],
  ['seal.seal()', { seal: { ...plain, seal: thrown } }],
])('of a failing %s', (name, options) => {
  test('nothing but its name and the kind of the error is stored and told', async () => {
    const made = await all(`kind of ${name} ${++keys}`, options);
    for (const error of made.errors)
      expect(error).toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining(`${name} threw`) });
    expect(made.text).toMatch(/SyntaxError/);
    expect(made.told).toHaveLength(1);
    expect(logged(made)).not.toContain(SECRET);
  });
});

test.each([
  [null, 'null'],
  [undefined, 'undefined'],
  [SECRET, 'a string'],
  [Object.create(null), 'an object'],
  [Object.assign(() => {}, { message: SECRET }), 'a function'],
])('anything may be thrown: %j is told as %s', async (thrown, kind) => {
  const encode = (): never => {
    throw thrown;
  };
  const made = await all(`odd ${kind}`, { encode, seal });
  expect(made.text).toBe(`1 unkept plain - LOCK_INVALID encode() threw ${kind}`);
  expect(logged(made)).not.toContain(SECRET);
});

test.each<[string, MemoOptions]>([
  ['decode()', { decode: thrown }],
  ['decode() that parses', { encode: String, decode: JSON.parse }],
  ['seal.open()', { seal: { ...plain, open: thrown } }],
])('the words are in no error of a failing %s', async (name, options) => {
  const made = await all(`words of ${name}`, options);
  for (const error of made.errors)
    expect(error).toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining('SyntaxError') });
  expect(logged({ ...made, text: '' })).not.toContain(SECRET);
});

test('the words of a failing toJSON, or of a member that cannot be read, are in no error', async () => {
  for (const value of [
    { toJSON: thrown },
    {
      get a() {
        return thrown();
      },
    },
  ]) {
    const made = await all('toJSON', {}, () => ({ in: value }));
    const message = expect.stringContaining('a part of it threw an instance of SyntaxError');
    expect(made.errors[1]).toMatchObject({ code: 'LOCK_INVALID', message });
    expect(logged(made)).not.toContain(SECRET);
  }
});

test('where there is a seal, a mark tells what kind of thing cannot be kept, and not its place', async () => {
  const made = await all('mark', { seal }, () => ({ [SECRET]: () => 1 }));
  expect(made.text).toBe('1 unkept plain - LOCK_INVALID a part of it is a function');
  for (const error of made.errors)
    expect(error).toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringContaining('a part of it is a function'),
    });
  expect(logged(made)).not.toContain(SECRET);
});

describe.each<[string, (rejects: () => Promise<never>) => MemoOptions]>([
  ['encode()', (encode) => ({ encode: encode as never })],
  ['seal.seal()', (rejects) => ({ seal: { ...plain, seal: rejects as never } })],
  ['decode()', (decode) => ({ decode })],
  ['seal.open()', (rejects) => ({ seal: { ...plain, open: rejects as never } })],
])('%s that gives a promise', (name, optionsWith) => {
  test('is refused with words, and its rejection is nobody’s', async () => {
    let made!: Awaited<ReturnType<typeof all>>;
    const uncaught = await uncaughtIn(async () => {
      made = await all(
        `promise of ${name}`,
        optionsWith(async () => thrown()),
      );
    });
    expect(uncaught).toEqual([]);
    const message = expect.stringMatching(`${name.replace(/[.()]/g, '\\$&')}.* gave a promise`);
    for (const error of made.errors) expect(error).toMatchObject({ code: 'LOCK_INVALID', message });
    expect(logged({ ...made, text: '' })).not.toContain(SECRET);
  });
});

test.each<[string, () => unknown, string]>([
  ['gives a promise', async () => thrown(), 'keepError() gave a promise'],
  ['throws', thrown, 'keepError() threw an instance of SyntaxError'],
  ['gives no duration', () => 'soon', 'the answer of keepError'],
])('where keepError() %s, its own caller has its error, those beside it and a warning say so, and nothing is kept', async (title, keepError, why) => {
  const key = `keepError ${title} ${++keys}`;
  const memo = createLocks(memory()).memo(key, { keep: '1h', keepError: keepError as never });
  const fails = (): Promise<never> => Promise.reject(new Error('its own'));
  let [own, beside]: PromiseSettledResult<unknown>[] = [];
  const uncaught = await uncaughtIn(async () => {
    [own, beside] = await Promise.allSettled([memo.run(fails), memo.run(fails)]);
  });
  expect(own).toMatchObject({ reason: { message: 'its own' } });
  expect(beside).toMatchObject({ reason: { code: 'LOCK_INVALID', message: expect.stringContaining(why) } });
  expect(warnings.told).toEqual([
    expect.stringMatching(`^HoldfastUnkeptWarning: "${key}" failed, and .*${why.replace('()', '\\(\\)')}`),
  ]);
  expect(uncaught).toEqual([]);
  expect(warnings.told.join()).not.toContain(SECRET);
  expect(await memo.peek()).toMatchObject({ state: 'absent' });
});

describe('of an error that is kept', () => {
  const long = 'x'.repeat(1_200_000);
  const odd = {
    get message(): string {
      return thrown();
    },
  };

  test.each<[string, unknown, object]>([
    ['a long message', new Error(long), { message: long.slice(0, 1_000) }],
    ['a long code', Object.assign(new Error('no'), { code: long }), { message: 'no', code: long.slice(0, 100) }],
    ['a long name', Object.assign(new Error('no'), { name: long }), { message: 'no', name: long.slice(0, 100) }],
    ['a number as its message', Object.assign(new Error(), { message: 5 }), { message: '5' }],
    ['a name that is no text', Object.assign(new Error('no'), { name: 5 }), { message: 'no', name: 'Error' }],
    ['no prototype', Object.assign(Object.create(null), { message: 'no', code: 'E1' }), { message: 'no', code: 'E1' }],
    ['no prototype and nothing else', Object.create(null), { message: 'an object' }],
    ['a symbol', Symbol('no'), { message: 'Symbol(no)' }],
    ['nothing', undefined, { message: 'undefined' }],
    ['null', null, { message: 'null' }],
    ['a text', 'no', { message: 'no' }],
    ['a message that cannot be read', odd, { name: 'Error', message: 'an error that cannot be read' }],
  ])('with %s, all have what can be said of it, within the bounds', async (title, error, cause) => {
    const engine = memory();
    const memo = createLocks(engine).memo(title, { keep: '1h', keepError: () => '1h' });
    const own = await memo.run(() => Promise.reject(error)).catch((reason) => reason);
    expect(own).toBe(error);
    await expect(memo.run(() => 1)).rejects.toMatchObject({ code: 'LOCK_FAILED', cause });
    expect((await engine.values!.look(title)).value!.text.length).toBeLessThan(2_000);
  });

  test.each<[string, MemoOptions['seal'], string]>([
    ['makes too much of it', { ...plain, seal: (text) => text.repeat(10_000) }, 'the engine takes 65536'],
    ['throws', { ...plain, seal: thrown }, 'seal.seal() threw an instance of SyntaxError'],
    ['gives a promise', { ...plain, seal: (async () => thrown()) as never }, 'seal.seal() gave a promise'],
  ])('and a seal that %s, all are told that it failed, and nothing of the error', async (title, broken, why) => {
    const engine = memory();
    const options: MemoOptions = { keep: '1h', keepError: () => '1h', seal: broken };
    const memo = createLocks(engine).memo(title, options);
    await expect(memo.run(() => Promise.reject(new Error(SECRET)))).rejects.toThrow(SECRET);
    const told = await memo.run(() => 1).catch((error) => error);
    expect(told).toMatchObject({ code: 'LOCK_FAILED', message: expect.stringContaining(why) });
    expect((await engine.values!.look(title)).value!.text).not.toContain(SECRET);
  });
});
