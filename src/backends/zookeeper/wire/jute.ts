/** Jute, ZooKeeper's encoding: big-endian numbers; four bytes of length before text, bytes and lists; −1 is null. */
export class Encoder {
  readonly #parts: Uint8Array[] = [];

  #put(size: number, write: (bytes: Buffer) => void): this {
    const bytes = Buffer.allocUnsafe(size);
    write(bytes);
    this.#parts.push(bytes);
    return this;
  }

  int(value: number): this {
    return this.#put(4, (bytes) => bytes.writeInt32BE(value));
  }

  long(value: bigint): this {
    return this.#put(8, (bytes) => bytes.writeBigInt64BE(value));
  }

  bool(value: boolean): this {
    return this.#put(1, (bytes) => bytes.writeInt8(value ? 1 : 0));
  }

  bytes(value: Uint8Array): this {
    this.int(value.length);
    this.#parts.push(value);
    return this;
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value));
  }

  list<T>(values: readonly T[], each: (value: T) => void): this {
    this.int(values.length);
    for (const value of values) each(value);
    return this;
  }

  /** One frame: the length, and everything written. */
  frame(): Buffer {
    return Buffer.concat(new Encoder().bytes(Buffer.concat(this.#parts)).#parts);
  }
}

/** Reads what `Encoder` writes. It checks every length: a broken frame throws `RangeError`. */
export class Decoder {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  #skip(size: number): number {
    const at = this.#at;
    if (size > this.#bytes.length - at) {
      throw new RangeError(`the frame ends after ${this.#bytes.length} bytes, but ${at + size} were announced`);
    }
    this.#at = at + size;
    return at;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#skip(4));
  }

  long(): bigint {
    return this.#bytes.readBigInt64BE(this.#skip(8));
  }

  bool(): boolean {
    return this.#bytes[this.#skip(1)] !== 0;
  }

  bytes(): Buffer {
    const size = Math.max(0, this.int());
    const at = this.#skip(size);
    return this.#bytes.subarray(at, at + size);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  list<T>(each: () => T): T[] {
    const values: T[] = [];
    for (let left = this.int(); left > 0; left--) values.push(each());
    return values;
  }
}

/** Bytes. Listings are the largest answers. A larger one is not from ZooKeeper (or `jute.maxbuffer` was raised). */
const MAX_FRAME_BYTES = 64 * 1_024 * 1_024;

/** Cuts a byte stream into frames: four bytes of length, then that many bytes. */
export class Frames {
  #rest: Buffer[] = [];
  #size = 0;
  /** Bytes needed before the next frame is whole. */
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
