/**
 * The part of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/) that the messages of etcd need. A schema is a table of
 * field numbers and kinds, and a message is a plain object. Every integer is a bigint, since revisions and lease ids have 64 bits. The
 * reader skips fields that are not in the table: newer servers may send more.
 */
export type FieldKind = 'int' | 'bool' | 'bytes' | 'string' | Schema | readonly [Schema];
export interface Schema {
  readonly [field: string]: readonly [number: number, kind: FieldKind];
}

type Scalar<K> = K extends 'int' ? bigint : K extends 'bool' ? boolean : K extends 'bytes' ? Buffer : string;

/** A message to send. Every field is optional. */
export type OutgoingMessage<S extends Schema> = { readonly [F in keyof S]?: OutgoingField<S[F][1]> };
type OutgoingField<K> = K extends readonly [infer E extends Schema]
  ? readonly OutgoingMessage<E>[]
  : K extends Schema
    ? OutgoingMessage<K>
    : Scalar<K>;

/** A received message. Scalars and lists are always there, inner messages only if they were sent. */
export type IncomingMessage<S extends Schema> = {
  readonly [F in keyof S]: S[F][1] extends readonly [infer E extends Schema]
    ? IncomingMessage<E>[]
    : S[F][1] extends Schema
      ? IncomingMessage<S[F][1]> | undefined
      : Scalar<S[F][1]>;
};

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

const ZERO: Readonly<Record<string, unknown>> = { int: 0n, bool: false, bytes: Buffer.alloc(0), string: '' };

export function encode<S extends Schema>(schema: S, message: OutgoingMessage<S>): Buffer {
  const out: Buffer[] = [];
  for (const [field, value] of Object.entries(message)) {
    const [number, kind] = schema[field]!;
    if (value === undefined) continue;
    for (const item of Array.isArray(kind) ? (value as unknown[]) : [value]) write(out, number, kind, item);
  }
  return Buffer.concat(out);
}

function write(out: Buffer[], number: number, kind: FieldKind, value: unknown): void {
  if (kind === 'int' || kind === 'bool') {
    out.push(varint(BigInt((number << 3) | VARINT)), varint(BigInt(value as bigint | boolean)));
    return;
  }
  const body =
    kind === 'string'
      ? Buffer.from(value as string)
      : kind === 'bytes'
        ? (value as Buffer)
        : encode(elementOf(kind), value as OutgoingMessage<Schema>);
  out.push(varint(BigInt((number << 3) | LENGTH)), varint(BigInt(body.length)), body);
}

type Fields = ReadonlyMap<number, readonly [field: string, kind: FieldKind]>;
const turned = new WeakMap<Schema, Fields>();

function byNumber(schema: Schema): Fields {
  const known = turned.get(schema);
  if (known) return known;
  const fields: Fields = new Map(Object.entries(schema).map(([field, [number, kind]]) => [number, [field, kind]]));
  turned.set(schema, fields);
  return fields;
}

export function decode<S extends Schema>(schema: S, buffer: Buffer): IncomingMessage<S> {
  const message: Record<string, unknown> = {};
  const fields = byNumber(schema);
  for (const [field, kind] of fields.values()) message[field] = Array.isArray(kind) ? [] : ZERO[kind as string];
  for (const [number, raw] of read(buffer)) {
    const [field, kind] = fields.get(number) ?? [];
    if (field === undefined || kind === undefined) continue;
    const value = typeof raw === 'bigint' ? (kind === 'bool' ? raw !== 0n : raw) : parse(kind, raw);
    if (Array.isArray(kind)) (message[field] as unknown[]).push(value);
    else message[field] = value;
  }
  return message as IncomingMessage<S>;
}

function parse(kind: FieldKind, raw: Buffer): unknown {
  if (kind === 'bytes') return raw;
  if (kind === 'string') return raw.toString();
  return decode(elementOf(kind), raw);
}

const elementOf = (kind: FieldKind): Schema => (Array.isArray(kind) ? kind[0] : kind) as Schema;

/** The fields of a message: a bigint for a varint, bytes for everything with a length. */
function* read(buffer: Buffer): Generator<readonly [number: number, raw: bigint | Buffer]> {
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      if (byte === undefined || shift > 63n) throw new Error('a message from etcd ends in the middle of a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
  };
  while (at < buffer.length) {
    const tag = Number(next());
    const type = tag & 7;
    if (type === VARINT) yield [tag >>> 3, next()];
    else {
      const length = type === LENGTH ? Number(next()) : type === FIXED64 ? 8 : type === FIXED32 ? 4 : Number.NaN;
      if (!(at + length <= buffer.length)) throw new Error('a message from etcd is cut short');
      if (type === LENGTH) yield [tag >>> 3, buffer.subarray(at, at + length)];
      at += length;
    }
  }
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
