import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { HOST } from '../../kit/net.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';

/** What is asked for; these servers give no less than the other. ms. */
const ASKED = 1_000;
const GIVEN = 1_500;

describeOn('zookeeper', 'what was given up while its session lived on', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;
  let other: Backend;
  beforeAll(async () => {
    server = await startZookeeper({ tickTime: '200', minSessionTimeout: `${GIVEN}` });
    proxy = await startProxy(server.port);
    backend = zookeeper({ servers: `${HOST}:${proxy.port}`, sessionTimeout: ASKED });
    other = zookeeper({ servers: `${HOST}:${server.port}`, sessionTimeout: ASKED });
  }, 60_000);
  afterAll(async () => {
    await Promise.all([backend?.close(), other?.close()]);
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const claimOf = (key: string, wish: Partial<Claim> = {}): Claim => {
    const rest = { ...EXCLUSIVE, ttl: ASKED, queue: true, tokenCount: 1, within: 5_000, label: '' };
    return { key, id: systemClock.id(), ...rest, ...wish };
  };
  const standing = async (key: string): Promise<number> => {
    let nodes = 0;
    for await (const _ of other.inspect!(key)) nodes++;
    return nodes;
  };

  /** Asks for what nobody answers, and does not ask again: as who gave up after its limit. */
  const unanswered = (asked: Promise<unknown>): Promise<unknown> => expect(asked).rejects.toThrow();

  test('a try whose answer was held up leaves nothing when there are answers again', async () => {
    const claim = claimOf('try', { queue: false });
    await other.attempt(claimOf('try', { id: 'f'.repeat(32) }));
    await other.release({ key: 'try', id: 'f'.repeat(32) }); // its parent is there
    await backend.attempt(claimOf('elsewhere'));
    proxy.stall('down'); // requests arrive
    await unanswered(backend.attempt(claim));
    await unanswered(backend.release(claim));
    expect(await standing('try'), 'nodes, kept by a session that the servers hear of').toBe(1);
    await proxy.pass();
    await until('the node is removed', async () => (await standing('try')) === 0);
  });

  test('a hold that was lost in silence is removed when there are answers again', async () => {
    const claim = claimOf('hold');
    const { lost } = (await backend.attempt(claim)) as Grant;
    proxy.stall('down');
    await until('it is told of its loss', () => lost!.aborted);
    await unanswered(backend.release(claim));
    expect(await standing('hold'), 'nodes, kept by a session that the servers hear of').toBe(1);
    await proxy.pass();
    await until('the node is removed', async () => (await standing('hold')) === 0);
  });

  test('a wait that was given up as the connection broke makes room when there is another', async () => {
    const [holder, quitter, waiter] = [claimOf('wait'), claimOf('wait'), claimOf('wait')];
    await other.attempt(holder);
    await backend.attempt(quitter);
    await other.attempt(waiter);
    const cut = proxy.cutBefore('-lock-');
    await unanswered(backend.release(quitter)); // never reaches the server
    await cut;
    await other.release(holder);
    await until('the waiter is admitted', async () => (await other.attempt(waiter)).granted);
    await other.release(waiter);
  });

  test('a place whose hold was lost, and that is not given up yet, stays until it is', async () => {
    const claim = claimOf('not yet'); // as with a `minHold`, which core lets pass first
    const { lost } = (await backend.attempt(claim)) as Grant;
    proxy.stall('down');
    await until('it is told of its loss', () => lost!.aborted);
    await proxy.pass();
    const next = claimOf('another');
    await until('there is a connection', async () => (await backend.attempt(next)).granted);
    expect(await standing('not yet')).toBe(1);
    expect(await backend.release(claim)).toEqual({ freed: true });
  });

  test('what never got a connection to ask over needs none to be given up', async () => {
    await backend.attempt(claimOf('connected'));
    proxy.refuse();
    proxy.cut();
    await unanswered(backend.attempt(claimOf('the last that is sent', { within: 300 })));
    const claim = claimOf('unsent', { within: 300 });
    await unanswered(backend.attempt(claim));
    expect(await backend.release(claim)).toEqual({ freed: false });
    await proxy.pass();
  });
});
