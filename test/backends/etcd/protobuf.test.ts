import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RangeResponse, WatchRequest } from '../../../src/backends/etcd/wire/messages.ts';
import { decode, encode } from '../../../src/backends/etcd/wire/protobuf.ts';

const schema = {
  int: [1, 'int'],
  bool: [2, 'bool'],
  bytes: [3, 'bytes'],
  text: [64, 'string'],
  list: [5, [{ int: [1, 'int'] }]],
  inner: [6, { text: [2, 'string'] }],
} as const;

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('protocol buffers', () => {
  test('what was encoded is decoded', () => {
    const messages = fc.record({
      int: int64,
      bool: fc.boolean(),
      bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      text: fc.string({ unit: 'grapheme' }),
      list: fc.array(fc.record({ int: int64 })),
      inner: fc.record({ text: fc.string() }),
    });
    const returns = fc.property(messages, (message) => {
      expect(decode(schema, encode(schema, message))).toEqual(message);
    });
    fc.assert(returns);
  });

  test('bytes are as the specification has them', () => {
    // The examples of the encoding guide: field 1 = 150, and field 2 = "testing".
    expect(encode({ a: [1, 'int'] }, { a: 150n }).toString('hex')).toBe('089601');
    expect(encode({ b: [2, 'string'] }, { b: 'testing' }).toString('hex')).toBe('120774657374696e67');
    expect(encode(WatchRequest, { cancel: { watchId: 1n } }).toString('hex')).toBe('12020801');
  });

  test('what was not sent is zero, empty or absent', () => {
    expect(decode(RangeResponse, Buffer.alloc(0))).toEqual({ header: undefined, kvs: [], more: false, count: 0n });
  });

  test('fields that are not in the table are skipped, whatever their type', () => {
    const bytes = Buffer.from('0801 1005 19 0000000000000000 2202 6869 2d 00000000'.replaceAll(' ', ''), 'hex');
    expect(decode({ a: [1, 'int'] }, bytes)).toEqual({ a: 1n });
  });

  test('no input but a well-formed one is taken, and none hangs', () => {
    const tryDecode = (bytes: Uint8Array): void => {
      try {
        decode(RangeResponse, Buffer.from(bytes));
      } catch (error) {
        expect((error as Error).message).toMatch(/^a message from etcd/);
      }
    };
    fc.assert(fc.property(fc.uint8Array(), tryDecode));
  });
});
