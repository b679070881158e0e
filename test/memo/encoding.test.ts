/** Values as the text that is kept: what comes back is what was given. */
import { isDeepStrictEqual } from 'node:util';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromText, toText } from '../../src/memo/encoding.ts';

const again = (value: unknown): unknown => fromText(toText(value));

const names = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('$map', '$object', '$', '__proto__', 'toJSON'));
/** All that the encoding keeps. No error: those are not deeply equal unless their stacks are. */
const anything = fc.anything({
  key: names,
  values: [
    ...[
      fc.boolean(),
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.string({ unit: 'binary' }),
      fc.date({ noInvalidDate: true }),
    ],
    fc.constantFrom(undefined, null, -0, Number.NaN, Number.POSITIVE_INFINITY, '\uD800', '"$'),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  ],
  withMap: true,
  withSet: true,
  withTypedArray: true,
});

test.each([{}, { sorted: true }])('any value comes back as it was, so that no two have one text: %j', (style) => {
  fc.assert(
    fc.property(anything, (value) => isDeepStrictEqual(fromText(toText(value, 'value', style)), value)),
    { numRuns: 2_000 },
  );
});

test('a date that is none comes back as such', () => {
  expect(again([new Date(Number.NaN)])).toEqual([new Date(Number.NaN)]);
});

test('the order of members comes back, and with sorted it makes no difference', () => {
  const [one, other] = [
    { b: [{ d: 1, c: 2 }], a: 0 },
    { a: 0, b: [{ c: 2, d: 1 }] },
  ];
  expect(JSON.stringify(again(one))).toBe(JSON.stringify(one));
  expect(toText(one)).not.toBe(toText(other));
  expect(toText(one, 'match', { sorted: true })).toBe(toText(other, 'match', { sorted: true }));
});

test('the text is well-formed and begins with the version of the format; what JSON has is JSON', () => {
  expect(toText({ n: 1, text: 'é', list: [true, null] })).toBe('1 {"n":1,"text":"é","list":[true,null]}');
  expect(toText({ at: new Date(5), not: undefined })).toBe('1 {"at":{"$date":5},"not":{"$undefined":0}}');
  expect(toText('\uD800').isWellFormed()).toBe(true);
});

test.each(['2 {}', '11 {}', '{}', '', ' 1', '1'])('another version is refused: %j', (text) => {
  expect(() => fromText(text)).toThrow('has the format of another version');
});

test.each([
  '1 {"$temporal":"x"}',
  '1 {"a":[{"$constructor":1}]}',
])('a kind that is not known is refused: %s', (text) => {
  expect(() => fromText(text)).toThrow('has the format of a newer version');
});

describe('an error', () => {
  class Declined extends RangeError {
    override name = 'Declined';
    code = 'E1';
  }
  const cause = new TypeError('why', { cause: new Date(5) });

  test('comes back with its class, if that is of the language, its name, its message, its cause and its members', () => {
    const back = again([
      new TypeError('no', { cause }),
      Object.assign(new Error('no'), { at: new Date(7) }),
    ]) as Error[];
    expect(back[0]).toBeInstanceOf(TypeError);
    expect(back[0]).toMatchObject({ name: 'TypeError', message: 'no', cause: { message: 'why', cause: new Date(5) } });
    expect(back[1]).toEqual(Object.assign(new Error('no'), { at: new Date(7) }));
    expect(Object.keys(back[1]!)).toEqual(['at']);
  });

  test('shows only the members of its own, and has no cause if it had none', () => {
    const shown = Object.assign(new AggregateError([1], 'no', { cause: undefined }), { code: 'E', stack: 'here' });
    const [back, plain] = again([shown, new RangeError()]) as [Error, Error];
    const withoutStack = (error: Error) => Object.getOwnPropertyNames(error).filter((name) => name !== 'stack');
    expect(Object.keys(back)).toEqual(['code']);
    expect(withoutStack(back).sort()).toEqual(['cause', 'code', 'errors', 'message']);
    expect(withoutStack(plain)).toEqual([]);
    expect(plain).toEqual(new RangeError());
    expect(Object.keys(again(new Declined('no')) as Error)).toEqual(['code']);
  });

  test('of a class of its own comes back as an Error with that name', () => {
    const back = again(new Declined('no'));
    expect(back).toBeInstanceOf(Error);
    expect(back).toMatchObject({ name: 'Declined', message: 'no', code: 'E1' });
  });

  test('of several comes back with all of them', () => {
    const back = again(new AggregateError([new Error('a'), 1n], 'both')) as AggregateError;
    expect(back).toBeInstanceOf(AggregateError);
    expect(back.errors).toEqual([new Error('a'), 1n]);
  });

  test.each([false, true])('has no stack for others, also one that is shown as a member: %s', (enumerable) => {
    const error = new TypeError('no');
    Object.defineProperty(error, 'stack', { value: error.stack, enumerable });
    expect(toText(error)).not.toContain('encoding.test');
    expect((again(error) as Error).stack).toBe('TypeError: no');
  });

  test('that came back may be changed as any other', () => {
    const back = again(Object.assign(new Error('no'), { code: 'E' })) as Error & { code?: string };
    back.message = `while paying: ${back.message}`;
    delete back.code;
    expect(back.message).toBe('while paying: no');
    expect('code' in back).toBe(false);
  });
});

describe('plain data is made of', () => {
  class Money {
    readonly amount = 5n;
    readonly #secret = 'not seen';
    get shown(): string {
      return this.#secret;
    }
  }
  class Empty {}
  const sparse = [1];
  sparse[2] = 3;

  test.each([
    ['an instance of a class: its own members', new Money(), { amount: 5n }],
    ['an instance without members of a class without methods', new Empty(), {}],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['what has a toJSON: what that gives', { toJSON: () => ({ at: new Date(5) }) }, { at: new Date(5) }],
    ['a URL', new URL('https://a.example/b'), 'https://a.example/b'],
    ['a list with a gap', sparse, [1, undefined, 3]],
    ['a boxed text', Object('ab'), 'ab'],
    [
      'values of another realm',
      runInNewContext('[new Date(5), new Map([[1, { a: 1 }]]), new Uint8Array([1])]'),
      [new Date(5), new Map([[1, { a: 1 }]]), new Uint8Array([1])],
    ],
  ])('%s', (_, value, plain) => {
    expect(again(value)).toStrictEqual(plain);
  });

  test('what is there twice: it is there twice', () => {
    const one = { n: 1 };
    expect(again([one, { one }])).toEqual([{ n: 1 }, { one: { n: 1 } }]);
  });
});

class Private {
  readonly #n = 1;
  get n(): number {
    return this.#n;
  }
}
class Derived extends Private {}
class Numbered extends Private {
  static override readonly name = 5 as never;
}
/** A typed array that some versions of the language have and others do not. */
class Half extends Uint8Array {
  override get [Symbol.toStringTag](): never {
    return 'Float16Array' as never;
  }
}
const around: Record<string, unknown> = {};
around.inner = [around];
const selfish = { toJSON: (): unknown => selfish };
const deep = Array.from({ length: 501 }).reduce<unknown>((inner) => [inner], 1);

describe.each([
  ['is a function', () => {}],
  ['is a symbol', Symbol('s')],
  ['is a Float16Array', new Half(2)],
  ['is an instance of Promise, which shows nothing of it', Promise.resolve()],
  ['is an instance of RegExp, which shows nothing of it', /a/],
  ['is an instance of WeakMap, which shows nothing of it', new WeakMap()],
  ['is an instance of AbortSignal, which shows nothing of it', new AbortController().signal],
  ['is an instance of Private, which shows nothing of it', new Private()],
  ['is an instance of Derived, which shows nothing of it', new Derived()],
  ['is an object, which shows nothing of it', new Numbered()],
  ['is an object, which shows nothing of it', new (class extends Private {})()],
  ['is an object, which shows nothing of it', Object.create({ hidden: 1, constructor: undefined })],
  ['contains itself', selfish],
])('%s, and is refused', (kind, value) => {
  test.each([
    ['value[1]', [0, value]],
    ['value.name', { a: 0, name: value }],
    ['value.deep[0].name', { deep: [{ name: value }] }],
    ['value[0][1]', new Map([[1, value]])],
    ['value.cause', new Error('no', { cause: value })],
  ])('at %s', (at, whole) => {
    expect(() => toText(whole)).toThrow(
      expect.objectContaining({ name: 'TypeError', message: `${at} ${kind}`, kind: `a part of it ${kind}` }),
    );
  });
});

test('what contains itself is refused, and says where', () => {
  expect(() => toText(around)).toThrow('value.inner[0] contains itself');
  const loop = new Map();
  loop.set('k', loop);
  expect(() => toText(loop)).toThrow('value[0][1] contains itself');
});

test('what is nested deeper than any process reads is refused', () => {
  expect(() => toText(deep)).toThrow('lies more than 500 deep');
  expect(again((deep as unknown[])[0])).toEqual((deep as unknown[])[0]);
});

test('what is undefined is refused where a whole value is asked for', () => {
  for (const value of [undefined, [undefined], { a: { b: undefined } }, new Map([[1, undefined]])])
    expect(() => toText(value, 'match', { whole: true })).toThrow(/^match.* is undefined/);
  expect(toText(null, 'match', { whole: true })).toBe('1 null');
});
