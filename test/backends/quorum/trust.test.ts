import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { LeaseMemory } from '../../../src/backends/quorum/lease-memory.ts';
import { RestartGuard, separateTwins } from '../../../src/backends/quorum/restart-guard.ts';
import { ServerIdentity } from '../../../src/backends/quorum/server-identity.ts';
import { LockError } from '../../../src/core/contract/errors.ts';
import { outcomeOf } from './scripted.ts';
import { counted, LEASE, newThree, RUN, Server, three } from './server.ts';

const MAX = 300_000;
function scene(servers: readonly Server[], { guarded = true, at = 0 } = {}) {
  const clock = manualClock();
  const background: unknown[] = [];
  const { after } = clock;
  clock.after = (ms, fn, alone) => {
    background.push([ms, alone]);
    return after(ms, fn, alone);
  };
  const guards = {
    ...{ clock, guarded, majority: Math.floor(servers.length / 2) + 1, maxTtl: MAX, drift: 0 },
    ...{ all: [] as RestartGuard[], identities: [] },
  };
  const all = servers.map(({ backend }, i) => new RestartGuard(backend, `node ${i + 1}`, guards)) as [
    RestartGuard,
    ...RestartGuard[],
  ];
  const settled = () => clock.advance(0);
  const introduced = async (): Promise<void> => {
    await clock.advance(at);
    await Promise.all(all.map((guard) => guard.ask()));
  };
  const known = async (guard: RestartGuard, ttl = 4_000): Promise<void> => guard.confirmRun(ttl, clock.now());
  const rests = async (guard: RestartGuard): Promise<string | undefined> =>
    /another .* ms/.exec(
      (
        await known(guard).then(
          () => doubtOf(guard),
          (error: Error) => error,
        )
      )?.message ?? '',
    )?.[0];
  const separate = (): Promise<void> => separateTwins(guards.all);
  return { clock, all, settled, introduced, known, rests, separate, background };
}

/** What a process that wants the vote of this node finds. */
function doubtOf(guard: RestartGuard): Error | undefined {
  guard.review();
  return guard.doubt;
}

const never = (): Promise<never> => new Promise(() => {});
const reset = async (): Promise<never> => {
  throw new Error('reset');
};
test.each([
  ['nobody guards it', false, () => three()],
  ['no node says which run it is', true, () => [new Server(undefined), new Server(undefined)]],
] as const)('nothing is read or written where %s', async (_, guarded, servers) => {
  const nodes = servers();
  const { all, introduced, known, clock } = scene(nodes, { guarded });
  await introduced();
  await known(all[0]);
  expect(all[0].confirmRun(4_000, clock.now()), 'nothing to wait for').toBeUndefined();
  expect(all[0].remember(4_000)).toBeUndefined();
  expect(doubtOf(all[0])).toBeUndefined();
  expect(nodes.map(({ reads, written }) => [reads, written.length])).toEqual(nodes.map(() => [0, 0]));
});

test('a node that counts is read once, and remembers each lease before its vote counts', async () => {
  const [server, ...others] = three();
  const { all, introduced, known, clock, settled } = scene([server, ...others]);
  await introduced();
  expect([server.reads, server.written], 'when it is introduced').toEqual([1, []]);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.writing = () => promise;
  const first = outcomeOf(known(all[0]));
  await settled();
  expect(first, 'while it is written').toEqual({});
  resolve();
  await settled();
  expect(first).toEqual({ value: undefined });
  expect(server.written, 'its mark lasts as long as the lease').toEqual(['run a', 'lease 5000', 'run a']);
  expect(all[0].confirmRun(4_000, clock.now()), 'nothing to wait for').toBeUndefined();
  await known(all[0], 20_000);
  await settled();
  expect([server.written.slice(3), server.reads]).toEqual([['lease 20000', 'run a'], 1]);
});

test('a mark that cannot be written keeps no vote from counting', async () => {
  const [server, ...others] = three();
  const { all, introduced, known, settled } = scene([server, ...others]);
  await introduced();
  server.writing = (name) => (name === RUN ? reset() : Promise.resolve());
  await known(all[0]);
  await settled();
  expect(server.written).toEqual(['lease 5000']);
});

test('a node remembers a lease before it is renewed to it', async () => {
  const [server, ...others] = three();
  const { all, introduced } = scene([server, ...others]);
  await introduced();
  await all[0].remember(60_000);
  expect(server.written).toEqual(['lease 100000']);
  expect(all[0].remember(60_000), 'it does').toBeUndefined();
});

test('new nodes are marked all at once, before the first lease is written down', async () => {
  const servers = [...newThree(), new Server(undefined)];
  const { all, introduced, known, settled } = scene(servers);
  await introduced();
  expect(servers.flatMap(({ written }) => written)).toEqual([]);
  const writes: (() => void)[] = [];
  servers[0]!.writing = () => new Promise((resolve) => writes.push(resolve));
  const first = outcomeOf(known(all[0]));
  for (const written of [[], ['born a\nb\nc'], ['born a\nb\nc', 'run a'], ['born a\nb\nc', 'run a', 'lease 5000']]) {
    await settled();
    expect([servers[0]!.written, 'value' in first]).toEqual([written, written.length === 3]);
    writes.at(-1)!();
  }
  expect(servers.slice(1, 3).map(({ written }) => written)).toEqual(
    ['b', 'c'].map((id) => ['born a\nb\nc', `run ${id}`]),
  );
});

test('a node that started anew counts when the longest lease is over that the others remember, to the millisecond', async () => {
  for (const [age, rest] of [
    [2, 'another 10000 ms'],
    [10_001.5, 'another 1 ms'],
    [10_002, undefined],
    [20_000, undefined],
  ] as const) {
    const [, ...others] = three();
    const server = new Server({ id: 'new', age }, counted('old', 3_000));
    const { all, introduced, rests } = scene([server, ...others]);
    await introduced();
    expect(await rests(all[0]), `after ${age} ms`).toBe(rest);
    expect(server.written[0], `after ${age} ms`).toBe(rest ? undefined : 'run new');
  }
});

test('a node that rests is doubted as long, and marked by whoever asks then', async () => {
  const [, ...others] = three();
  const server = new Server({ id: 'new', age: 2 }, counted('old'));
  const { all, introduced, clock, settled } = scene([server, ...others]);
  await introduced();
  expect(doubtOf(all[0])?.message).toMatch('another 10000 ms');
  await clock.advance(9_999);
  expect(doubtOf(all[0])?.message).toMatch('another 1 ms');
  await clock.advance(0.5);
  expect(doubtOf(all[0])?.message).toMatch('another 1 ms');
  expect(server.written).toEqual([]);
  await clock.advance(0.5);
  expect(doubtOf(all[0])).toBeUndefined();
  await settled();
  expect(server.written).toEqual(['run new']);
});

test('whoever asks a node that counts writes nothing at another one, also when that one counts again', async () => {
  const [, ...others] = three();
  const server = new Server({ id: 'new', age: 2 }, counted('old'));
  const { all, introduced, known, clock, settled } = scene([server, ...others]);
  await introduced();
  await known(all[1]!);
  await clock.advance(10_000);
  expect(doubtOf(all[1]!)).toBeUndefined();
  await settled();
  expect(server.written).toEqual([]);
  expect(doubtOf(all[0])).toBeUndefined();
  await settled();
  expect(server.written, 'when it is asked itself').toEqual(['run new']);
});

test('while a node rests all are looked at again, soon at first and every half second later', async () => {
  const servers = [new Server({ id: 'new', age: 2 }, counted('old')), ...three().slice(1)];
  const { all, introduced, clock, settled } = scene(servers);
  await introduced();
  const reads = () => servers.map((server) => server.reads);
  const before = reads();
  const more = async () => {
    void doubtOf(all[0]);
    await settled();
    return reads().map((now, i) => now - before[i]!);
  };
  expect([await more(), await more()], 'at first').toEqual([
    [1, 1, 1],
    [1, 1, 1],
  ]);
  for (const [times, pause] of [50, 100, 200, 400, 500, 500].entries()) {
    await clock.advance(pause - 1);
    expect(await more(), `${pause - 1} ms later`).toEqual(Array(3).fill(times + 1));
    await clock.advance(1);
    expect([await more(), await more()], `${pause} ms later`).toEqual(Array(2).fill(Array(3).fill(times + 2)));
  }
  await clock.advance(9_999 - clock.now());
  expect([await more(), doubtOf(all[0])?.message], 'in its last ms').toEqual([
    ...[Array(3).fill(8), expect.stringMatching('another 1 ms')],
  ]);
  await clock.advance(1);
  expect([doubtOf(all[0]), await more()], 'when it counts').toEqual([undefined, Array(3).fill(8)]);
});

test('after each start anew all are looked at again soon, however long the last pause was', async () => {
  const servers: [Server, Server, Server] = [new Server({ id: 'new', age: 2 }, counted('old')), three()[1], three()[2]];
  const { all, introduced, clock, settled } = scene(servers);
  await introduced();
  const look = async (): Promise<number> => {
    const before = servers[1].reads;
    void doubtOf(all[0]);
    await settled();
    return servers[1].reads - before;
  };
  for (const pause of [0, 50, 100, 200, 400, 500]) {
    await clock.advance(pause);
    expect(await look()).toBe(1);
  }
  servers[0].restart({ id: 'newer', age: 0 }, true);
  await all[0].ask();
  expect(await look(), 'at once').toBe(1);
  await clock.advance(50);
  expect(await look(), '50 ms later').toBe(1);
});

test('a node says until when it does not count by the time of day: that of its clock, or else of this machine', async () => {
  const servers = [new Server({ id: 'new', age: 2 }, counted('old')), ...three().slice(1)];
  const { all, introduced, clock } = scene(servers);
  await introduced();
  const end = (): string | undefined => /until (\S+Z)$/.exec(doubtOf(all[0])!.message)?.[1];
  expect(end()).toBe(new Date(clock.epoch() + 10_000).toISOString());
  delete (clock as { epoch?: unknown }).epoch;
  const before = Date.now();
  const told = Date.parse(end()!) - 10_000;
  expect(told).toBeGreaterThanOrEqual(before);
  expect(told).toBeLessThanOrEqual(Date.now());
});

test('a node that may be new says so while another has not been asked, and one that forgot says that', async () => {
  const servers = newThree();
  const { all, known } = scene(servers);
  await all[0].ask();
  await all[1]!.ask();
  const why = () => known(all[0]).then(String, ({ message }: Error) => message);
  expect(await why()).toMatch(
    /^is new, or has lost its data.*when every node has answered once.*another \d+ ms, until \S+Z$/,
  );
  await all[2]!.ask();
  expect(await why(), 'when all have answered').toBe('undefined');
  const old = scene([new Server({ id: 'new', age: 2 }, counted('old')), ...three().slice(1)]);
  await old.introduced();
  expect(doubtOf(old.all[0])?.message).toMatch(/^restarted: what it granted before may be forgotten/);
});

test('a run that nobody can tell the age of counts at once, and bears witness', async () => {
  const ageless = ['b', 'c'].map((id) => new Server({ id }, [[`${LEASE}10000`, '1']]));
  const server = new Server({ id: 'new', age: 2 }, counted('old', 3_000));
  const { all, introduced, rests } = scene([server, ...ageless]);
  await introduced();
  expect([doubtOf(all[1]!), await rests(all[1]!)]).toEqual([undefined, undefined]);
  expect(await rests(all[0]), 'as long as they remember').toBe('another 10000 ms');
});

test('a node that names no run bears witness, and always counts', async () => {
  const nameless = [1, 2].map(() => new Server(undefined, [[`${LEASE}10000`, '1']]));
  const server = new Server({ id: 'new', age: 2 }, counted('old', 3_000));
  const { all, introduced, rests, known } = scene([server, ...nameless]);
  await introduced();
  expect(await rests(all[0])).toBe('another 10000 ms');
  await known(all[1]!);
  expect(doubtOf(all[1]!)).toBeUndefined();
  expect(nameless[0]!.written).toEqual(['lease 5000']);
});

test('of nodes that name no run, no vote counts before one of a node that does, as they say', async () => {
  const servers = [new Server(undefined), ...three().slice(1)];
  const { all, known } = scene(servers);
  await expect(known(all[0])).rejects.toThrow('its vote does not count before one of a node that names its run');
  expect(servers[0]!.written).toEqual([]);
});

test('a node that names its run counts also where too few others do', async () => {
  const servers = [three()[0], new Server(undefined), ...['c', 'd', 'e'].map((id) => new Server({ id, age: 1_000 }))];
  const { all, known } = scene(servers);
  await known(all[0]);
  expect(servers[0]!.written).toContain('lease 5000');
  await known(all[1]!);
  expect(servers[1]!.written, 'and so does one that names none, beside it').toEqual(['lease 5000']);
});

test('a node that counts bears witness, also where its mark could not be written', async () => {
  const servers = newThree();
  const { all, introduced, known, rests, clock, settled } = scene(servers);
  await introduced();
  servers[1].writing = (name) => (name === RUN ? reset() : Promise.resolve());
  for (const guard of all) await known(guard);
  await settled();
  await clock.advance(2_000);
  servers[0].restart({ id: 'new', age: 100 });
  expect(await rests(all[0])).toBe('another 4902 ms');
});

test('a node that started anew before others were found to be new counts when they do', async () => {
  const servers = newThree();
  const { all, introduced, known, rests, clock } = scene(servers);
  await all[2]!.ask();
  await clock.advance(1_000);
  servers[2].restart({ id: 'new', age: 100 });
  await introduced();
  expect(await rests(all[2]!), 'of which it may have been one').toBe(`another ${MAX + 2 - 100} ms`);
  await known(all[0]);
  expect(await rests(all[2]!)).toBeUndefined();
});

/** A node that begins anew while the others have not been looked at for a while. */
async function later(servers: [Server, Server, Server], age: number, keeps = false) {
  const it = scene(servers);
  await it.introduced();
  await it.clock.advance(2_000);
  servers[0].restart({ id: 'new', age }, keeps);
  for (const other of servers.slice(1)) other.reads = 0;
  return it;
}

test('others that were looked at before a node began are looked at again, and no others', async () => {
  for (const [age, reads] of [
    [1_999, [1, 1]],
    [2_000, [0, 0]],
  ] as const) {
    const servers = three();
    const { all, rests } = await later(servers, age);
    expect(await rests(all[0])).toBe(`another ${10_002 - age} ms`);
    expect(
      servers.slice(1).map((other) => other.reads),
      `of an age of ${age} ms`,
    ).toEqual(reads);
  }
});

test.each([
  ['names its next run only when it is asked', undefined],
  ['cannot name its run', reset],
])('a node that has restarted unnoticed, and %s, is no witness of what the node that is asked may have forgotten', async (_, naming) => {
  const servers = three();
  servers[2].kept = new Map(counted('c', 3_000)); // the second node alone remembers the lease of 10 s
  const { all, rests } = await later(servers, 100);
  servers[1].restart({ id: 'newer', age: 50 });
  if (naming) servers[1].naming = naming;
  expect(await rests(all[0])).toBe(`another ${MAX + 2 - 100} ms`);
});

test('others that hang are waited for a quarter of a second, and may remember the longest lease', async () => {
  const servers = newThree(); // as it seemed before it began
  const { all, rests, clock, background } = await later(servers, 100);
  for (const other of servers.slice(1)) other.reading = never;
  const rest = outcomeOf(rests(all[0]));
  for (let turn = 0; turn < 4; turn++) await clock.advance(0);
  await clock.advance(249);
  expect(rest).toEqual({});
  await clock.advance(1);
  expect(rest.value).toBe(`another ${MAX + 2 - 100} ms`);
  expect(background.at(-1), 'a timer that keeps no process alive').toEqual([250, true]);
});

test('others that fail are not waited for', async () => {
  const servers = three();
  const { all, rests } = await later(servers, 100);
  for (const other of servers.slice(1)) other.reading = reset;
  expect(await rests(all[0])).toBe(`another ${MAX + 2 - 100} ms`);
});

test('a node of which nobody can have forgotten a lease counts without a look at the others', async () => {
  for (const [age, reads] of [
    [MAX + 1, 1],
    [MAX + 2, 0],
  ] as const) {
    const servers = three();
    const it = scene([new Server({ id: 'new', age }, counted('old')), servers[1], servers[2]]);
    await it.clock.advance(0);
    await it.known(it.all[0]).catch(() => {});
    expect(servers[1].reads, 'who has not said who it is').toBe(0);
    const again = scene([new Server({ id: 'new', age }, counted('old')), servers[1], servers[2]]);
    again.all[1]!.identity.recognise(servers[1].run!, 0);
    await again.known(again.all[0]).catch(() => {});
    expect(servers[1].reads, `of an age of ${age} ms`).toBe(reads);
  }
});

test('a node that came back empty is given what it has forgotten, so that nobody takes it for new', async () => {
  const servers = three();
  const it = scene(servers);
  await it.introduced();
  await it.known(it.all[0], 20_000);
  await it.settled();
  await it.clock.advance(2_000);
  servers[0].restart({ id: 'new', age: 100 });
  expect(await it.rests(it.all[0]), 'the others remember less').toBe('another 19902 ms');
  expect(servers[0].written).toEqual(['lease 20000']);
  await it.clock.advance(1_000);
  servers[0].restart({ id: 'newer', age: 100 });
  expect(await it.rests(it.all[0]), 'however often').toBe('another 19902 ms');
  expect(servers[0].written).toEqual(['lease 20000']);
});

test('it is given that before it is believed to remember it', async () => {
  const servers = three();
  const it = scene(servers);
  await it.introduced();
  await it.known(it.all[0], 20_000);
  servers[0].restart({ id: 'new', age: 0 });
  servers[0].writing = never;
  const rest = outcomeOf(it.rests(it.all[0]));
  await it.clock.advance(60_000);
  expect(rest).toEqual({});
});

test.each([
  ['came back with its data', (server: Server) => server.restart({ id: 'new', age: 100 }, true), 20_000],
  [
    'cannot be read',
    (server: Server) => {
      server.restart({ id: 'new', age: 100 });
      server.reading = async () => {
        throw new LockError('LOCK_UNAVAILABLE', 'no right to read');
      };
    },
    20_000,
  ],
  ['was not to remember anything', (server: Server) => server.restart({ id: 'new', age: 100 }), undefined],
] as const)('a node that %s is given nothing', async (_, restart, lease) => {
  const servers = three();
  const it = scene(servers);
  await it.introduced();
  if (lease) await it.known(it.all[0], lease);
  await it.settled();
  restart(servers[0]);
  await it.rests(it.all[0]);
  expect(servers[0].written).toEqual([]);
});

test('what was read of a run that is over is not believed of the next', async () => {
  const servers = three();
  const it = scene(servers);
  const { promise, resolve } = Promise.withResolvers<void>();
  servers[0].reading = () => promise;
  const first = outcomeOf(it.known(it.all[0]));
  await it.settled();
  servers[0].restart({ id: 'new', age: 0 }, true);
  servers[0].reading = never;
  void it.all[0].ask();
  await it.settled();
  resolve();
  await it.settled();
  expect(first.error?.message).toBe('restarted while it was asked');
  expect(servers[0].written).toEqual([]);
});

test.each([
  'before',
  'after',
])('where a node answers a lease %s another claim notices its restart, the new run does not count', async (when) => {
  const servers = three();
  const [server] = servers;
  const it = scene(servers);
  await it.introduced();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.writing = (name) => (name === `${LEASE}20000` ? promise : Promise.resolve());
  const vote = outcomeOf(it.known(it.all[0], 20_000));
  await it.settled();
  server.restart({ id: 'new', age: 0 });
  if (when === 'before') resolve();
  await it.settled();
  await it.all[0].ask();
  resolve();
  await it.settled();
  expect(server.written, 'the new run is marked by nobody').not.toContain('run new');
  expect(doubtOf(it.all[0])?.message).toMatch('restarted');
  if (when === 'after') expect(vote.error?.message).toBe('restarted while it was asked');
});

test('a lease that the earlier run of a node stored is not remembered by the next run', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hints = { read: async () => undefined, write: () => promise };
  const backend = around(memory(), { hints });
  const leases = new LeaseMemory(new ServerIdentity(backend, 'node 1', []), MAX, manualClock());
  const noted = leases.noteLease(20_000, 0);
  leases.forget();
  resolve();
  await noted;
  expect(leases.remembers(20_000, 0)).toBe(false);
});

test('a node that is the server of another asks that one first whether it is still there', async () => {
  const servers = ['a', 'b', 'b'].map((id) => new Server({ id, age: 1_000 })) as [Server, Server, Server];
  const { all, separate, settled } = scene(servers);
  for (const guard of all.slice(0, 2)) await guard.ask();
  await expect(all[2]!.ask()).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  await expect(separate(), 'as long as it is').rejects.toMatchObject({ code: 'LOCK_INVALID' });
  servers[1].run = { id: 'c', age: 1_000 };
  servers[1].naming = (run) => new Promise((resolve) => setTimeout(resolve, 5, run));
  await separate();
  expect(all.map(({ identity }) => identity.run?.id)).toEqual(['a', 'c', 'b']);
  await separate();
  await settled();
});

test('where two were one server for a moment, a third one that is down keeps nobody from asking them', async () => {
  const servers = ['a', 'b', 'b'].map((id) => new Server({ id, age: 1_000 })) as [Server, Server, Server];
  const { all, separate } = scene(servers);
  for (const guard of all.slice(0, 2)) await guard.ask();
  await expect(all[2]!.ask()).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  servers[2].run = { id: 'c', age: 1_000 };
  servers[0].naming = reset;
  await separate();
  expect(all.map(({ identity }) => identity.run?.id)).toEqual(['a', 'b', 'c']);
});
