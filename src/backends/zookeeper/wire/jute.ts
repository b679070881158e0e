/**
 * Jute, ZooKeeper's encoding. Numbers are big-endian. Text, bytes and lists have four bytes of length in front; a length of −1 is null. The
 * fields of a record follow each other without names, so a message is written and read by a table of its fields.
 */
export interface JuteKind<Written, Read = Written> {
  write(to: Draft, value: Written): void;
  read(from: JuteFrame): Read;
}

/** The bytes of one message, read from the first to the last. It checks every length: a broken frame throws `RangeError`. */
export class JuteFrame {
  readonly bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get remaining(): number {
    return this.bytes.length - this.#at;
  }

  /** @returns where the next `size` bytes begin */
  skip(size: number): number {
    const at = this.#at;
    if (size > this.remaining)
      throw new RangeError(`the frame ends after ${this.bytes.length} bytes, but ${at + size} were announced`);
    this.#at = at + size;
    return at;
  }
}

/** A frame while it is written: four bytes for its length, and the fields so far. */
export class Draft {
  bytes = Buffer.allocUnsafe(256);
  #end = 4;

  /** @returns where the next `size` bytes begin */
  reserve(size: number): number {
    const at = this.#end;
    this.#end = at + size;
    if (this.#end > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * this.#end);
    return at;
  }

  frame(): Buffer {
    this.bytes.writeInt32BE(this.#end - 4);
    return this.bytes.subarray(0, this.#end);
  }
}

type Put<T> = (this: Buffer, value: T, at: number) => unknown;

const fixed = <T>(size: number, put: Put<T>, get: (this: Buffer, at: number) => T): JuteKind<T> => ({
  write(to, value) {
    const at = to.reserve(size);
    put.call(to.bytes, value, at);
  },
  read: (from) => get.call(from.bytes, from.skip(size)),
});

/** A kind whose values are converted, and then stored as values of another kind. */
const as = <T, S, R = S>(stored: JuteKind<S, R>, write: (value: T) => S, read: (value: R) => T): JuteKind<T> => ({
  write: (to, value) => stored.write(to, write(value)),
  read: (from) => read(stored.read(from)),
});

export const int = fixed<number>(4, Buffer.prototype.writeInt32BE, Buffer.prototype.readInt32BE);
export const long = fixed<bigint>(8, Buffer.prototype.writeBigInt64BE, Buffer.prototype.readBigInt64BE);
const byte = fixed<number>(1, Buffer.prototype.writeInt8, Buffer.prototype.readInt8);
export const bool = as<boolean, number>(byte, Number, Boolean);
/** ms since 1970. */
export const time = as<number, bigint>(long, BigInt, Number);

export const bytes: JuteKind<Uint8Array, Buffer> = {
  write(to, value) {
    int.write(to, value.length);
    const at = to.reserve(value.length);
    to.bytes.set(value, at);
  },
  read(from) {
    const size = Math.max(0, int.read(from));
    const at = from.skip(size);
    return from.bytes.subarray(at, at + size);
  },
};

export const text = as<string, Uint8Array, Buffer>(bytes, Buffer.from, (found) => found.toString());

export const list = <T>(each: JuteKind<T>): JuteKind<readonly T[]> => ({
  write(to, values) {
    int.write(to, values.length);
    for (const value of values) each.write(to, value);
  },
  read(from) {
    const values: T[] = [];
    for (let rest = int.read(from); rest > 0; rest--) values.push(each.read(from));
    return values;
  },
});

// biome-ignore lint/suspicious/noExplicitAny: a table has fields of any type
type Fields = Readonly<Record<string, JuteKind<any, any>>>;
type Written<F extends Fields> = { readonly [N in keyof F]: Parameters<F[N]['write']>[1] };
type Read<F extends Fields> = { readonly [N in keyof F]: ReturnType<F[N]['read']> };

export function record<F extends Fields>(fields: F): JuteKind<Written<F>, Read<F>> {
  const kinds = Object.entries(fields);
  return {
    write(to, value) {
      for (const [name, kind] of kinds) kind.write(to, value[name]);
    },
    read(from) {
      const found: Record<string, unknown> = {};
      for (const [name, kind] of kinds) found[name] = kind.read(from);
      return found as Read<F>;
    },
  };
}

/** Listings are the largest answers. A frame above this limit is not from ZooKeeper, or `jute.maxbuffer` was raised. */
const MAX_FRAME_BYTES = 64 * 1_024 * 1_024;

/** Cuts a byte stream into frames: four bytes of length, then that many bytes. */
export class Frames {
  #rest: Buffer[] = [];
  #size = 0;
  /** The bytes that are needed for the next frame. */
  #wanted = 4;

  *take(chunk: Buffer): Generator<Buffer> {
    this.#rest.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return;
    let bytes = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest);
    for (;;) {
      this.#wanted = bytes.length < 4 ? 4 : 4 + length(bytes);
      if (bytes.length < this.#wanted) break;
      yield bytes.subarray(4, this.#wanted);
      bytes = bytes.subarray(this.#wanted);
    }
    this.#rest = [bytes];
    this.#size = bytes.length;
  }
}

function length(bytes: Buffer): number {
  const size = bytes.readInt32BE(0);
  if (size < 0 || size > MAX_FRAME_BYTES)
    throw new RangeError(`a frame of ${size} bytes was announced; is this ZooKeeper?`);
  return size;
}
