import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decoder, Encoder, Frames } from '../../../../src/backends/zookeeper/wire/jute.ts';

const text = fc.string({ unit: 'grapheme' });

test('what is written is read', () => {
  const values = fc.record({
    int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    bool: fc.boolean(),
    bytes: fc.uint8Array({ maxLength: 1_000 }),
    text,
    list: fc.array(text),
  });
  fc.assert(
    fc.property(values, ({ int, long, bool, bytes, text, list }) => {
      const into = new Encoder().int(int).long(long).bool(bool).bytes(bytes).text(text);
      const frame = into.list(list, (item) => into.text(item)).frame();
      expect(frame.readInt32BE(0)).toBe(frame.length - 4);
      const from = new Decoder(frame.subarray(4));
      expect([from.int(), from.long(), from.bool()]).toEqual([int, long, bool]);
      expect(Uint8Array.from(from.bytes())).toEqual(bytes);
      expect(from.text()).toBe(text);
      expect(from.list(() => from.text())).toEqual(list);
      expect(from.left).toBe(0);
    }),
  );
});

test('a length of −1 is nothing', () => {
  const from = new Decoder(new Encoder().int(-1).int(-1).frame().subarray(4));
  expect(from.text()).toBe('');
  expect(from.list(() => from.text())).toEqual([]);
});

test('a frame that is cut short throws, and reads nothing beyond its end', () => {
  const into = new Encoder().long(7n).text('holdfast');
  const frame = into.list(['a', 'b'], (item) => into.text(item)).frame();
  const readAll = (from: Decoder) => [from.long(), from.text(), from.list(() => from.text())];
  for (let size = 4; size < frame.length; size++) {
    expect(() => readAll(new Decoder(frame.subarray(4, size)))).toThrow(RangeError);
  }
});

test('frames come out whole, however the stream is cut', () => {
  const stream = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 });
  fc.assert(
    fc.property(stream, fc.infiniteStream(fc.integer({ min: 1, max: 20 })), (frames, sizes) => {
      let rest = Buffer.concat(frames.map((frame) => new Encoder().bytes(frame).frame()));
      const cutter = new Frames();
      const seen: Uint8Array[] = [];
      for (const size of sizes) {
        if (rest.length === 0) break;
        for (const frame of cutter.take(rest.subarray(0, size))) seen.push(Uint8Array.from(new Decoder(frame).bytes()));
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
