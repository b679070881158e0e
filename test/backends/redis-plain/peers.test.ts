import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainRedis } from '../../../src/backends/redis-plain/index.ts';
import { quorum } from '../../../src/backends/redlock/index.ts';
import { type Claim, EXCLUSIVE } from '../../../src/core/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startRedis, startRedisNodes } from '../../kit/redis.ts';
import { chosenEngines, whyNot } from '../../kit/selection.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet } from '../redis/fleet.ts';
import { LAWS } from './peers/laws.ts';
import { type Row, rowOf } from './peers/matrix.ts';
import { PEERS, type Peer, sidesOf } from './peers/peers.ts';

/** How many peers are looked at side by side: they mostly wait. */
const SIDE_BY_SIDE = 5;
/** ms that all of them may take on a busy machine, when the first of them is installed. */
const ALL = 600_000;

const LOOKED_AT = PEERS.filter(({ byCommand }) => !byCommand);

const partsOf = ({ needs, nodes = 1 }: Peer) =>
  ['redis-plain', ...(nodes > 1 ? (['redlock'] as const) : []), 'redis', ...needs] as const;

describe('plain redis and', () => {
  const rows = new Map<Peer, PromiseWithResolvers<Row | undefined>>();
  const servers = new AsyncDisposableStack();

  beforeAll(async () => {
    const waiting = LOOKED_AT.filter(
      (peer) => whyNot(partsOf(peer), chosenEngines(process.env.BACKENDS)) === undefined,
    );
    if (waiting.length === 0) return;
    for (const peer of waiting) rows.set(peer, Promise.withResolvers());
    for (const { promise } of rows.values()) promise.catch(() => {}); // its tests tell it
    const nodes = servers.use(await startRedisNodes(3));
    const referee = servers.use(await startRedis());
    const ports = nodes.servers.map(({ port }) => port);
    const one = async (): Promise<void> => {
      for (let peer = waiting.shift(); peer; peer = waiting.shift()) {
        const { resolve, reject } = rows.get(peer)!;
        await rowOf(peer, ports, referee.port, { rounds: 3, race: 3_000, racers: 2 }).then(resolve, reject);
      }
    };
    for (let i = 0; i < SIDE_BY_SIDE; i++) void one();
  });
  afterAll(async () => {
    await Promise.allSettled([...rows.values()].map(({ promise }) => promise));
    await servers[Symbol.asyncDispose]();
  }, ALL);

  for (const peer of LOOKED_AT)
    describeOn(partsOf(peer), `${peer.title}:`, () => {
      test.for(LAWS)('%s', { timeout: ALL }, async ([_law, check], { skip }) => {
        const row = await rows.get(peer)!.promise;
        if (row) check(row, peer);
        else skip('it could not be built');
      });
    });
});

for (const peer of LOOKED_AT.filter(({ nodes = 1 }) => nodes > 1))
  describeOn(partsOf(peer), `a quorum of plain redis and ${peer.title}`, () => {
    test('exclude each other while one of the nodes is down', { timeout: ALL }, async ({ skip }) => {
      await using nodes = await startRedisNodes(3);
      await using referee = await startRedis();
      const ports = nodes.servers.map(({ port }) => port);
      const sides = await sidesOf(peer, ports, referee.port);
      if (!sides) return skip('it could not be built');
      await using us = await sides.us('ioredis');
      await using them = await sides.them();
      // Which of the nodes has lost its data is known when all of them have answered once.
      expect(await us.ask('take key 10000 5000', 5_000)).toBe('yes');
      await us.ask('release key');
      await nodes.servers[1]!.kill();
      const turns = [us, them].flatMap((side, i, both) => ({ holder: side, other: both[1 - i]! }));
      for (const { holder, other } of [...turns, ...turns]) {
        await until('a majority is there', async () => (await holder.ask('take key 10000 5000', 5_000)) === 'yes');
        expect(await other.ask('take key 10000 0')).toBe('no');
        await holder.ask('release key');
      }
    });
  });

describeOn(['redis-plain', 'redlock'], 'a quorum of plain redis', () => {
  test('gives tokens that grow over several processes', async () => {
    await using nodes = await startRedisNodes(3);
    await using stack = new AsyncDisposableStack();
    const process = () => {
      const fleets = nodes.servers.map(({ port }) => stack.use(new Fleet(port)));
      return stack.use(createLocks(quorum(fleets.map((fleet) => plainRedis(fleet.ioredis())))));
    };
    const [a, b] = [process(), process()];
    let last = 0n;
    for (let i = 0; i < 10; i++) {
      const lease = await [a, b][i % 2]!.mutex('key').acquire();
      expect(lease.token).toBeGreaterThan(last);
      last = lease.token;
      await lease.release();
    }
  });

  test('remembers at a node a token that is above its clock, until the clock has passed it', async () => {
    await using server = await startRedis();
    await using fleet = new Fleet(server.port);
    const redis = fleet.ioredis();
    const node = plainRedis(redis);
    const ahead = BigInt(Date.now() + 60_000) * 1_000n;
    const claim = (id: string, minToken?: bigint): Claim => ({
      ...{ ...EXCLUSIVE, key: 'key', id, ttl: 5_000, queue: false, tokenCount: 1, within: 1_000, label: '' },
      ...(minToken !== undefined && { minToken }),
    });
    expect(await node.attempt(claim('first', ahead))).toMatchObject({ granted: true, token: ahead });
    await node.release(claim('first'));
    expect(await node.attempt(claim('second')), 'one more').toMatchObject({ granted: true, token: ahead + 1n });
    const raised = await node.attempt(claim('second', ahead + 500n));
    expect(raised, 'the same claim again').toMatchObject({ granted: true, token: ahead + 500n });
    await node.release(claim('second'));
    const left = await redis.pttl('holdfast:raised:key');
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThan(61_000);
    await expect(node.attempt(claim('third', 2n ** 60n))).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
    await node.close();
  });
});
