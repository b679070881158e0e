import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { credentials, Metadata, makeGenericClientConstructor, type ServiceError } from '@grpc/grpc-js';
import { etcd } from '../src/backends/etcd/index.ts';
import { Client } from '../src/backends/etcd/wire/client.ts';
import { GrpcChannel } from '../src/backends/etcd/wire/grpc.ts';
import { GRANT, list, remove, stand, TxnRequest } from '../src/backends/etcd/wire/messages.ts';
import { encode, type OutgoingMessage } from '../src/backends/etcd/wire/protobuf.ts';
import { EXCLUSIVE } from '../src/core/contract/admission.ts';
import { systemClock } from '../src/core/contract/clock.ts';
import { startEtcd } from '../test/kit/etcd.ts';

/**
 * How to talk to etcd: the same bare lock (one transaction to take the key and list the line, one to delete it, a lease
 * that is there already) over three transports, and our whole backend beside them. Interleaved rounds, medians.
 *
 *   node bench/etcd-transport.ts [rounds]
 */

const ROUNDS = Number(process.argv[2] ?? 7);
const SERIAL = 200;
const AT_ONCE = 50;
const TURNS = 6;

interface Contestant {
  readonly name: string;
  cycle(key: string): Promise<void>;
  close(): void | Promise<void>;
}
type Txn = OutgoingMessage<typeof TxnRequest>;

const VALUE = Buffer.from('{"take":1,"of":1}');
const lineFrom = (key: string): Buffer => Buffer.from(`bench/${key}/`);
const nonce = (line: Buffer): Buffer => Buffer.concat([line, Buffer.from(randomBytes(16).toString('hex'))]);

/** The bare recipe, over whatever sends a transaction. */
function bare(name: string, send: (txn: Txn) => Promise<unknown>, lease: bigint, close: () => void): Contestant {
  return {
    name,
    close,
    async cycle(key) {
      const line = lineFrom(key);
      const mine = nonce(line);
      await send({ success: [stand(mine, VALUE, lease), list(line)] });
      await send({ success: [remove(mine)] });
    },
  };
}

function overGrpcJs(port: number, lease: bigint): Contestant {
  const identity = (bytes: Buffer): Buffer => bytes;
  const Service = makeGenericClientConstructor(
    {
      txn: {
        path: '/etcdserverpb.KV/Txn',
        requestStream: false,
        responseStream: false,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      },
    },
    'KV',
  );
  const client = new Service(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  const send = (txn: Txn): Promise<unknown> =>
    new Promise((resolve, reject) => {
      client.txn?.(encode(TxnRequest, txn), metadata, (error: ServiceError | null, reply: unknown) =>
        error ? reject(error) : resolve(reply),
      );
    });
  return bare('grpc-js', send, lease, () => client.close());
}

/** The gateway reads the same fields as JSON: bytes as base64, 64-bit numbers as strings. */
function overJson(port: number, lease: bigint): Contestant {
  const agent = new Agent({ keepAlive: true });
  const post = async (body: object): Promise<unknown> => {
    const call = request({ port, host: '127.0.0.1', path: '/v3/kv/txn', method: 'POST', agent });
    call.end(JSON.stringify(body));
    const [reply] = await once(call, 'response');
    let text = '';
    for await (const chunk of reply) text += chunk;
    return JSON.parse(text);
  };
  return {
    name: 'JSON gateway',
    close: () => agent.destroy(),
    async cycle(key) {
      const line = lineFrom(key);
      const mine = nonce(line).toString('base64');
      const range = { key: line.toString('base64'), range_end: Buffer.from(`bench/${key}0`).toString('base64') };
      const put = { key: mine, value: VALUE.toString('base64'), lease: String(lease) };
      const sorted = { ...range, sort_order: 'ASCEND', sort_target: 'CREATE' };
      await post({ success: [{ request_put: put }, { request_range: sorted }] });
      await post({ success: [{ request_delete_range: { key: mine } }] });
    },
  };
}

function wholeBackend(port: number): Contestant {
  const backend = etcd({ endpoints: `127.0.0.1:${port}` });
  return {
    name: 'whole backend',
    close: () => backend.close(),
    async cycle(key) {
      const handle = { key, id: systemClock.id() };
      const wish = { ...handle, ...EXCLUSIVE, ttl: 30_000, queue: true, tokenCount: 1, within: 5_000, label: '' };
      await backend.attempt(wish);
      await backend.release(handle);
    },
  };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function race(): Promise<void> {
  await using server = await startEtcd();
  const channel = new GrpcChannel([new URL(`http://127.0.0.1:${server.port}`)], {}, 3_000, systemClock);
  const client = new Client(channel, undefined, 3_000);
  const { id } = await client.call(GRANT, { ttl: 3_600n });
  const contestants = [
    overGrpcJs(server.port, id),
    overJson(server.port, id),
    bare(
      'node:http2',
      (txn) => client.txn(txn),
      id,
      () => client.close(),
    ),
    wholeBackend(server.port),
  ];
  const serial = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  const crowd = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  const work = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, cycle } of contestants) {
      const idle = process.cpuUsage();
      let started = performance.now();
      for (let turn = 0; turn < SERIAL; turn++) await cycle(`k${turn % 10}`);
      const each = (performance.now() - started) / SERIAL;
      started = performance.now();
      const caller = async (_: unknown, own: number): Promise<void> => {
        for (let turn = 0; turn < TURNS; turn++) await cycle(`own${own}`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, caller));
      const rate = (AT_ONCE * TURNS) / ((performance.now() - started) / 1_000);
      const { user, system } = process.cpuUsage(idle);
      if (round === 0) continue; // warming up
      work.get(name)!.push((user + system) / (SERIAL + AT_ONCE * TURNS));
      serial.get(name)!.push(each);
      crowd.get(name)!.push(rate);
    }
  }
  console.table(
    contestants.map(({ name }) => ({
      transport: name,
      'ms a cycle, one caller': Number(median(serial.get(name)!).toFixed(2)),
      [`cycles/s, ${AT_ONCE} callers`]: Math.round(median(crowd.get(name)!)),
      'µs of this CPU a cycle': Math.round(median(work.get(name)!)),
    })),
  );
  for (const contestant of contestants) await contestant.close();
}

await race();
