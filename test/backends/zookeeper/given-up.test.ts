import { setTimeout as sleep } from 'node:timers/promises';
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

  /** A claim whose node was made too late, and could not be removed, since the connection ended. */
  async function tooLate(key: string): Promise<Claim> {
    const [before, claim] = [claimOf(key), claimOf(key)];
    await backend.attempt(before);
    await backend.release(before); // its parent is there, and a connection
    proxy.stall('down');
    const sent = performance.now();
    const attempt = unanswered(backend.attempt({ ...claim, within: 20 }));
    await until(
      'its node is there, too late',
      async () => (await standing(key)) === 1 && performance.now() - sent > 30,
    );
    const cut = proxy.cutBefore('-lock-'); // the removal
    await proxy.pass();
    await Promise.all([cut, attempt]);
    return claim;
  }

  test('a node that was made too late does not stand before a later node of its claim', async () => {
    const claim = await tooLate('behind itself');
    const cut = proxy.cutAfter('-lock-'); // the first request for the claim over the next connection
    await unanswered(backend.attempt(claim));
    await cut;
    await until('the late node is removed', async () => (await standing('behind itself')) < 2);
    expect(await backend.attempt(claim), 'nobody else is there').toMatchObject({ granted: true });
    await backend.release(claim);
    expect(await standing('behind itself'), 'nodes that would keep the key from everybody').toBe(0);
  });

  test('the release of a claim removes its late node, though a later attempt found no connection', async () => {
    const claim = await tooLate('late and unsent');
    proxy.stall('up');
    await unanswered(backend.attempt({ ...claim, within: 50 }));
    const released = backend.release(claim);
    await Promise.race([released, sleep(50)]); // so a release that waits for no connection is over
    await proxy.pass();
    expect(await released).toEqual({ freed: true });
  });

  test('a claim that stands again before its late node is removed keeps the new node', async () => {
    const claim = await tooLate('again');
    const grant = (await backend.attempt(claim)) as Grant; // waits for the next connection, as the removal does
    expect(await backend.attempt(claim), 'the same hold').toMatchObject({ granted: true, token: grant.token });
    expect(grant.lost!.aborted, 'its node was removed').toBe(false);
    await backend.release(claim);
  });

  test('a node whose hold was notified is not removed by an attempt that is answered too late', async () => {
    const [holder, waiter] = [claimOf('notified'), claimOf('notified')];
    await other.attempt(holder);
    await backend.attempt(waiter);
    let mail: Grant | undefined;
    await using _ = await backend.watch!(waiter, (grant) => {
      mail ??= grant;
    });
    proxy.stall('down');
    await other.release(holder);
    const sent = performance.now();
    const attempt = backend.attempt({ ...waiter, within: 20 });
    await until('it is too late', () => performance.now() - sent > 30);
    await proxy.pass();
    await attempt;
    await until('it has mail', () => mail !== undefined);
    expect(mail!.lost!.aborted, 'the notified hold is lost').toBe(false);
    expect(await standing('notified'), 'nodes of the notified hold').toBe(1);
    await backend.release(waiter);
  });

  test('a claim keeps its place in the queue, though a later attempt of it is answered too late', async () => {
    const [holder, quitter, waiter, last] = Array.from({ length: 4 }, () => claimOf('kept')) as [
      Claim,
      Claim,
      Claim,
      Claim,
    ];
    for (const claim of [holder, quitter]) await other.attempt(claim);
    await backend.attempt(waiter);
    await other.attempt(last);
    proxy.stall('down');
    await other.release(quitter);
    const sent = performance.now();
    const attempt = backend.attempt({ ...waiter, within: 20 });
    await until('it is too late', () => performance.now() - sent > 30);
    await proxy.pass();
    await attempt;
    await other.release(holder);
    expect(await backend.attempt(waiter), 'of the claim that came before the last one').toMatchObject({
      granted: true,
    });
    await Promise.all([backend.release(waiter), other.release(last)]);
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
