import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bool,
  bytes,
  Draft,
  Frames,
  int,
  JuteFrame,
  list,
  long,
  record,
  text,
  time,
} from '../../../../src/backends/zookeeper/wire/jute.ts';

const MESSAGE = record({ int, long, bool, bytes, text, time, list: list(text), inner: record({ text, int }) });
const framed = <T>(kind: { write(to: Draft, value: T): void }, value: T): Buffer => {
  const draft = new Draft();
  kind.write(draft, value);
  return draft.frame();
};

test('what is written is read', () => {
  const string = fc.string({ unit: 'grapheme' });
  const number = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  const values = fc.record({
    int: number,
    long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    bool: fc.boolean(),
    bytes: fc.uint8Array({ maxLength: 1_000 }),
    text: string,
    time: fc.nat(Number.MAX_SAFE_INTEGER),
    list: fc.array(string),
    inner: fc.record({ text: string, int: number }),
  });
  fc.assert(
    fc.property(values, (value) => {
      const frame = framed(MESSAGE, value);
      expect(frame.readInt32BE(0)).toBe(frame.length - 4);
      const from = new JuteFrame(frame.subarray(4));
      const read = MESSAGE.read(from);
      expect({ ...read, bytes: Uint8Array.from(read.bytes) }).toEqual({ ...value });
      expect(from.remaining).toBe(0);
    }),
  );
});

test('a length of −1 is nothing', () => {
  const from = new JuteFrame(framed(record({ text: int, list: int }), { text: -1, list: -1 }).subarray(4));
  expect(text.read(from)).toBe('');
  expect(list(text).read(from)).toEqual([]);
});

test('a frame that is cut short throws, and reads nothing beyond its end', () => {
  const kind = record({ long, text, list: list(text) });
  const frame = framed(kind, { long: 7n, text: 'holdfast', list: ['a', 'b'] });
  for (let size = 4; size < frame.length; size++) {
    expect(() => kind.read(new JuteFrame(frame.subarray(4, size)))).toThrow(RangeError);
  }
});

test('frames come out whole, however the stream is cut', () => {
  const stream = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 });
  fc.assert(
    fc.property(stream, fc.infiniteStream(fc.integer({ min: 1, max: 20 })), (frames, sizes) => {
      let rest = Buffer.concat(frames.map((frame) => framed(bytes, frame)));
      const cutter = new Frames();
      const seen: Uint8Array[] = [];
      for (const size of sizes) {
        if (rest.length === 0) break;
        for (const frame of cutter.take(rest.subarray(0, size)))
          seen.push(Uint8Array.from(bytes.read(new JuteFrame(frame))));
        rest = rest.subarray(size);
      }
      expect(seen).toEqual(frames);
    }),
  );
});

test.for([-1, 2 ** 31 - 1])('a frame of %s bytes is not believed', (size) => {
  const head = Buffer.alloc(4);
  head.writeInt32BE(size);
  expect(() => [...new Frames().take(head)]).toThrow('is this ZooKeeper');
});
