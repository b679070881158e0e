/** Jute, ZooKeeper's encoding: big-endian numbers; four bytes of length before text, bytes and lists; −1 is null. */
export class Encoder {
  #bytes = Buffer.allocUnsafe(256);
  /** The first four bytes are for the length of the frame. */
  #end = 4;

  #room(size: number): number {
    const at = this.#end;
    this.#end += size;
    if (this.#end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#end));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    return at;
  }

  int(value: number): this {
    const at = this.#room(4);
    this.#bytes.writeInt32BE(value, at);
    return this;
  }

  long(value: bigint): this {
    const at = this.#room(8);
    this.#bytes.writeBigInt64BE(value, at);
    return this;
  }

  bool(value: boolean): this {
    const at = this.#room(1);
    this.#bytes[at] = value ? 1 : 0;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.int(value.length);
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  text(value: string): this {
    const size = Buffer.byteLength(value);
    this.int(size);
    const at = this.#room(size);
    this.#bytes.write(value, at, 'utf8');
    return this;
  }

  list<T>(values: readonly T[], each: (value: T) => void): this {
    this.int(values.length);
    for (const value of values) each(value);
    return this;
  }

  /** One frame: the length, and everything written. */
  frame(): Buffer {
    this.#bytes.writeInt32BE(this.#end - 4, 0);
    return this.#bytes.subarray(0, this.#end);
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
const LARGEST = 64 * 1_024 * 1_024;

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
  if (size < 0 || size > LARGEST) throw new RangeError(`a frame of ${size} bytes was announced; is this ZooKeeper?`);
  return size;
}
