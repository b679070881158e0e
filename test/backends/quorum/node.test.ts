import { expect, test, vi } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { Node } from '../../../src/backends/quorum/node.ts';
import { type ClaimOfAll, NodeClaim } from '../../../src/backends/quorum/node-claim.ts';
import type { NodeAnswer } from '../../../src/backends/quorum/tally.ts';
import { CallTimeouts } from '../../../src/core/engine/call-timeouts.ts';
import { claim } from './nodes.ts';
import { outcomeOf } from './scripted.ts';
import { counted, LEASE, Server, three } from './server.ts';

async function scene(servers: readonly Server[], more: Parameters<typeof around>[1] = {}) {
  const clock = manualClock();
  const guards = { ...{ clock, guarded: true, majority: 2, maxTtl: 300_000, drift: 0 }, all: [], identities: [] };
  const context = { ...guards, timeouts: new CallTimeouts(clock) };
  const nodes = servers.map(({ backend }, i) => new Node(around(backend, more), i + 1, context)) as [Node, ...Node[]];
  await Promise.all(nodes.map((node) => node.introduce(250).catch(() => {})));
  return { clock, nodes };
}

test('a node that does not count yet is not asked, and says for how long', async () => {
  const [, ...others] = three();
  const { nodes } = await scene([new Server({ id: 'new', age: 2 }, counted('old')), ...others]);
  expect(nodes[0].skipOrProbe()?.message).toMatch('another 10000 ms');
  expect(nodes.slice(1).map((node) => node.skipOrProbe())).toEqual([undefined, undefined]);
});

test('every node is asked where two are the same server, so that all claims are refused with the reason', async () => {
  const [, other, twin] = three();
  twin.run = other.run;
  const { nodes } = await scene([new Server({ id: 'new', age: 2 }, counted('old')), other, twin]);
  expect(nodes.map((node) => node.skipOrProbe())).toEqual([undefined, undefined, undefined]);
});

test('a node remembers the longest lease of many before it renews to them', async () => {
  const renewed: string[][] = [];
  const servers = three();
  const [server] = servers;
  const { nodes } = await scene(servers, {
    renew: async () => {
      renewed.push([...server.written]);
      return [{ validFor: 1 }, { validFor: 2 }];
    },
  });
  const claims = [60_000, 1_000].map((ttl) => claim({ ttl }));
  expect(await nodes[0].renew(claims, 1_000)).toEqual([{ validFor: 1 }, { validFor: 2 }]);
  expect(renewed).toEqual([['lease 100000']]);
});

test('a renewal that a new run of the server took is not answered before that run remembers the lease, too', async () => {
  const servers = three();
  const [server] = servers;
  const { promise, resolve } = Promise.withResolvers<void>();
  const { nodes, clock } = await scene(servers, {
    renew: async () => {
      // The earlier run lost its last write, and kept the hold.
      server.kept.delete(`${LEASE}100000`);
      server.restart({ id: 'new', age: 0 }, true);
      server.writing = () => promise;
      return [{ validFor: 1 }];
    },
  });
  const renewal = outcomeOf(nodes[0].renew([claim({ ttl: 60_000 })], 1_000));
  await vi.waitFor(() => expect(server.run?.id).toBe('new'));
  await clock.advance(0);
  expect(renewal, 'while it is written').toEqual({});
  resolve();
  await clock.advance(0);
  expect([renewal.value, server.written]).toEqual([[{ validFor: 1 }], ['lease 100000']]);
});

test.each<[string, Parameters<typeof scene>[1], boolean]>([
  ['keeps notes and counts', {}, true],
  ['keeps no notes', { hints: undefined }, false],
])('a node is asked for notes where it %s', async (_, more, isAsked) => {
  const { nodes } = await scene(three(), more);
  let asked = false;
  await nodes[0].hints(async () => {
    asked = true;
  }, 250);
  expect(asked).toBe(isAsked);
});

test('a node that does not count yet is not asked for notes', async () => {
  const [, ...others] = three();
  const { nodes } = await scene([new Server({ id: 'new', age: 2 }, counted('old')), ...others]);
  expect(await nodes[0].hints(async () => 'asked', 250)).toBeUndefined();
});

test('a node that waits because the others were not heard counts sooner once they are: whoever wants its vote reads them again', async () => {
  const [, ...others] = three();
  for (const other of others) other.reading = () => Promise.reject(new Error('reset'));
  const { clock, nodes } = await scene([new Server({ id: 'new', age: 2 }, counted('old')), ...others]);
  const rests = async (): Promise<string | undefined> => {
    const rest = /another \d+ ms/.exec(nodes[0].skipOrProbe()?.message ?? '')?.[0];
    await clock.advance(0);
    return rest;
  };
  expect(await rests()).toBe('another 300000 ms');
  for (const other of others) other.reading = () => Promise.resolve();
  await clock.advance(1_000);
  expect([await rests(), await rests()], 'as for the longest lease, and as they remember').toEqual([
    ...['another 299000 ms', 'another 9000 ms'],
  ]);
});

test('the first vote of a node that came back long ago counts, and so its run is marked for all', async () => {
  const servers = three();
  const { clock, nodes } = await scene(servers);
  const voteOn = async (key: string): Promise<string> => {
    const heard: NodeAnswer[] = [];
    const whole: ClaimOfAll = {
      ...{ tag: 'tag', within: 100, claim: claim({ key, ttl: 20_000 }), isOver: () => false },
      receive: (_, answer) => heard.push(answer),
    };
    new NodeClaim(whole, nodes[0], 0, key, undefined).ask(clock.now());
    for (let turn = 0; turn < 5; turn++) await clock.advance(0);
    return heard.map(({ kind }) => kind).join();
  };
  expect(await voteOn('a')).toBe('yes');
  await clock.advance(60_000);
  servers[0].restart({ id: 'new', age: 30_000 });
  expect(await voteOn('b'), 'longer ago than any lease').toBe('yes');
  expect(servers[0].written).toEqual(['lease 20000', 'run new']);
});
