import { types } from 'node:util';

/** The version of the format, in front of each text. */
const VERSION = '1';
/** How deep the parts of a value may be nested: a process with a smaller stack must be able to read them. */
const MAX_DEPTH = 500;

/** The reason why a value or its text is refused. The message may show a path in the value; `kind` shows nothing of the value. */
export class RefusedValue extends TypeError {
  readonly kind: string;
  readonly code: 'LOCK_INVALID' | 'LOCK_TOO_LARGE';

  constructor(kind: string, at?: string, code: RefusedValue['code'] = 'LOCK_INVALID') {
    super(at === undefined ? kind : `${at} ${kind}`);
    this.kind = at === undefined ? kind : `a part of it ${kind}`;
    this.code = code;
  }
}

interface Style {
  /** Whether the members of objects are sorted. Default: false. */
  readonly sorted?: boolean;
  /** Whether `undefined` is refused. Default: it is kept. */
  readonly whole?: boolean;
}

/**
 * Writes a value as text. What JSON lacks is kept, too: dates, bigints, `undefined`, every number, maps, sets, typed arrays and errors. An object
 * with `toJSON` becomes what `toJSON` returns. Of an instance of a class only its own members are written.
 * @param at the name of the value in an error
 * @throws RefusedValue for what cannot be written: a function, a symbol, a cycle, an instance without members of its own
 */
export function toText(value: unknown, at = 'value', style: Style = {}): string {
  return `${VERSION} ${JSON.stringify(new Writer(style).written(value, at))}`;
}

/** Reads what `toText` wrote. @throws RefusedValue for another version, Error for any other text */
export function fromText(text: string): unknown {
  const [version] = /^\d+(?= )/.exec(text) ?? [];
  if (version !== VERSION) throw new RefusedValue('it has the format of another version');
  const json: unknown = JSON.parse(text.slice(VERSION.length + 1));
  return text.includes('"$') ? read(json) : json;
}

/** Makes JSON of a value. What JSON lacks becomes an object with one member, for example `$date`. */
class Writer {
  readonly #style: Style;
  /** The objects that contain the value being written. */
  readonly #around = new Set<object>();

  constructor(style: Style) {
    this.#style = style;
  }

  written(value: unknown, at: string): unknown {
    switch (typeof value) {
      case 'number':
        if (Object.is(value, -0)) return { $number: '-0' };
        return Number.isFinite(value) ? value : { $number: `${value}` };
      case 'bigint':
        return { $bigint: `${value}` };
      case 'undefined':
        if (this.#style.whole) throw new RefusedValue('is undefined; say null there if that is meant', at);
        return { $undefined: 0 };
      case 'object':
        return value && this.#within(value, at);
      case 'function':
      case 'symbol':
        throw new RefusedValue(`is a ${typeof value}`, at);
      default:
        return value;
    }
  }

  #within(value: object, at: string): unknown {
    if (this.#around.has(value)) throw new RefusedValue('contains itself', at);
    if (this.#around.size === MAX_DEPTH) throw new RefusedValue(`lies more than ${MAX_DEPTH} deep`, at);
    this.#around.add(value);
    const written = this.#object(value, at);
    this.#around.delete(value);
    return written;
  }

  #object(value: object & { toJSON?: unknown }, at: string): unknown {
    if (Array.isArray(value)) return Array.from(value, (item, i) => this.written(item, `${at}[${i}]`));
    if (types.isDate(value)) return { $date: value.getTime() };
    if (types.isTypedArray(value)) return { $bytes: bytesIn(value, at) };
    if (typeof value.toJSON === 'function') return this.written(value.toJSON(''), at);
    if (types.isMap(value)) return { $map: this.#object([...value], at) };
    if (types.isSet(value)) return { $set: this.#object([...value], at) };
    if (types.isBoxedPrimitive(value)) return this.written(value.valueOf(), at);
    if (types.isNativeError(value)) return { $error: this.#members(partsOf(value), at) };
    const members = Object.entries(value);
    if (members.length === 0 && hides(value))
      throw new RefusedValue(`is ${kindOf(value)}, which shows nothing of it`, at);
    const written = this.#members(members, at);
    return members.some(([name]) => name.startsWith('$')) ? { $object: written } : written;
  }

  #members(members: readonly (readonly [string, unknown])[], at: string): object {
    const ordered = this.#style.sorted ? members.toSorted(([a], [b]) => (a < b ? -1 : 1)) : members;
    return Object.fromEntries(ordered.map(([name, member]) => [name, this.written(member, `${at}.${name}`)]));
  }
}

/** Names the class of a value, and shows nothing of its content. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return `${value}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name ? `an instance of ${name.slice(0, 80).toWellFormed()}` : 'an object';
}

/** Whether an object without own members may hide a state: its class has methods, as Promise has. */
function hides(value: object): boolean {
  const kind: object | null = Object.getPrototypeOf(value);
  // A prototype that has no prototype itself is Object.prototype, of this or another realm.
  if (!kind || !Object.getPrototypeOf(kind)) return false;
  return Object.getOwnPropertyNames(kind).length > 1 || hides(kind);
}

const HIDDEN = ['name', 'message', 'cause', 'errors'];

/** The members of an error that are kept: its name, message and causes, and its enumerable members. Its stack is not for other processes. */
function partsOf(error: Error): [string, unknown][] {
  const hidden = HIDDEN.filter((name) => name === 'name' || Object.hasOwn(error, name));
  const own = Object.entries(error).filter(([name]) => name !== 'stack');
  return [...hidden.map((name): [string, unknown] => [name, error[name as 'name']]), ...own];
}

const ERRORS = [TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError];

function errorOf(parts: Record<string, unknown>): Error {
  const { name, message = '' } = parts;
  const made = new Error();
  const kind = ERRORS.find((each) => each.name === name);
  if (kind) Object.setPrototypeOf(made, kind.prototype);
  for (const [part, value] of Object.entries(parts)) {
    const member = { value, writable: true, configurable: true, enumerable: !HIDDEN.includes(part) };
    if (part !== 'name' || made.name !== value) Object.defineProperty(made, part, member);
  }
  made.stack = `${name}: ${message}`;
  return made;
}

const ARRAYS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];

/** The kind of a typed array, and its bytes as they lie in memory: on nearly all machines the low byte is first. */
function bytesIn(array: NodeJS.TypedArray, at: string): [kind: string, bytes: string] {
  const kind = array[Symbol.toStringTag];
  if (!ARRAYS.some(({ name }) => name === kind)) throw new RefusedValue(`is a ${kind}`, at);
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');
  return [Buffer.isBuffer(array) ? 'Buffer' : kind, bytes];
}

function arrayOf([kind, text]: [kind: string, bytes: string]): unknown {
  const bytes = Buffer.from(text, 'base64');
  if (kind === 'Buffer') return bytes;
  // The bytes are copied: a Buffer may begin at any byte, and a Float64Array only at a multiple of 8.
  return new (ARRAYS.find(({ name }) => name === kind)!)(new Uint8Array(bytes).buffer);
}

const READERS: Readonly<Record<string, (body: never) => unknown>> = {
  $undefined: () => undefined,
  $number: Number,
  $bigint: BigInt,
  $date: (ms: number | null) => new Date(ms ?? Number.NaN),
  $bytes: arrayOf,
  $map: (pairs: unknown[]) => new Map(pairs.map(read) as [unknown, unknown][]),
  $set: (items: unknown[]) => new Set(items.map(read)),
  $error: (parts: object) => errorOf(membersOf(parts)),
  $object: (members: object) => membersOf(members),
};

function read(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(read);
  if (typeof json !== 'object' || json === null) return json;
  const [kind, body] = Object.entries(json)[0] ?? [];
  if (!kind?.startsWith('$')) return membersOf(json);
  const reader = READERS[kind];
  if (!reader) throw new RefusedValue('it has the format of a newer version');
  return reader(body as never);
}

const membersOf = (json: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(json).map(([name, member]) => [name, read(member)]));

/**
 * Calls a function of the user. If the function throws, the new error names only the class of what was thrown: a message might show the value.
 * @throws RefusedValue if the function throws, or returns a promise
 */
export function given<R>(name: string, act: () => R): R {
  let result: R;
  try {
    result = act();
  } catch (error) {
    throw error instanceof RefusedValue ? error : new RefusedValue(`${name} threw ${kindOf(error)}`);
  }
  const { then } = Object(result) as Partial<PromiseLike<unknown>>;
  if (typeof then !== 'function') return result;
  Promise.resolve(result).catch(() => {}); // ignored: the error below says enough
  throw new RefusedValue(`${name} gave a promise, and has to give what is kept at once`);
}

/** Calls a function of the user that returns text. @throws RefusedValue, also if the text is not well-formed */
export function textGiven(name: string, act: () => unknown): string {
  const text = given(name, act);
  if (typeof text === 'string' && text.isWellFormed()) return text;
  throw new RefusedValue(`${name} gave no well-formed text`);
}
