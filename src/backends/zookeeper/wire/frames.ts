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
