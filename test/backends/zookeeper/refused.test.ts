import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { OwnNodes } from '../../../src/backends/zookeeper/own-nodes.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { HOST } from '../../kit/net.ts';

/** A session with the id 7 and a password of 16 bytes, for 10 s. */
const WELCOME = Buffer.from(`00000024${'00000000'}00002710${'0000000000000007'}00000010${'00'.repeat(16)}`, 'hex');
/** The answer to an authentication: its number -4, no zxid, and the code -115. */
const AUTH_FAILED = Buffer.from(`00000010${'fffffffc'}${'0000000000000000'}${'ffffff8d'}`, 'hex');

/** A server that refuses every authentication, if it answers at all. */
async function startRefusing() {
  const state = { silent: false };
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        if (state.silent) return;
        socket.write(WELCOME);
        socket.once('data', () => socket.end(AUTH_FAILED));
      });
  }).listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const options = { servers: `${HOST}:${port}`, sessionTimeout: 1_000, auth: { user: 'a', password: 'b' } };
  return { state, backend: zookeeper(options), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const REFUSED = { code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(/does not accept this `auth`/) };

test('an acquire that is refused before it is sent leaves nothing in this process', async () => {
  await using server = await startRefusing();
  const begin = vi.spyOn(OwnNodes.prototype, 'begin');
  await using locks = createLocks(server.backend);
  await expect(locks.mutex('a').acquire()).rejects.toMatchObject(REFUSED);
  expect(begin).toHaveBeenCalledOnce();
  const [own, [claim]] = [begin.mock.contexts[0] as OwnNodes, begin.mock.calls[0]!];
  expect(own.endUnsent(claim), 'its id was still kept').toBe(false);
});

test('a claim that found no server, and then was refused, needs no connection to be given up', async () => {
  await using server = await startRefusing();
  const { state, backend } = server;
  const rest = { ...EXCLUSIVE, ttl: 1_000, queue: true, tokenCount: 1, within: 100, label: '' };
  const claim = { key: 'a', id: systemClock.id(), ...rest };
  state.silent = true;
  await expect(backend.attempt(claim)).rejects.toThrow(/no ZooKeeper server could be had/);
  state.silent = false;
  await expect(backend.attempt({ ...claim, within: 5_000 })).rejects.toMatchObject(REFUSED);
  expect(await backend.release(claim)).toEqual({ freed: false });
  await backend.close();
});
