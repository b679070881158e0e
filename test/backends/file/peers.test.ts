import { renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { socketDirectory, socketName } from '../../../src/backends/file/sockets.ts';
import { OwnSocket, Peers } from '../../../src/backends/file/wake-ups.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { LocksFile } from './locks-file.ts';

/** Another process, as a connection sees it. `die()` closes its socket at once, as the kernel does, and leaves the name. */
async function otherProcess(directory: string): Promise<{ readonly name: string; die(): void }> {
  const [made, name] = [socketName(systemClock.id()), socketName(systemClock.id())];
  const server = createServer();
  await new Promise<void>((listening) => server.listen(join(directory, made), listening));
  renameSync(join(directory, made), join(directory, name));
  return { name, die: () => void server.close() };
}

test.skipIf(process.platform === 'win32')(
  'a process that dies while another one connects to it is found dead at once',
  async () => {
    await using at = new LocksFile();
    const own = await OwnSocket.open(at.path, systemClock, () => {});
    const { promise: death, resolve: onDeath } = Promise.withResolvers<string>();
    const peers = new Peers(own, systemClock, {
      onMessage() {},
      onDisconnect: async () => {},
      onDeath: async (peer) => onDeath(peer),
    });
    const other = await otherProcess(socketDirectory(at.path));
    peers.watch(other.name);
    other.die(); // the kernel has the connection already, and Node has not looked at it yet
    const late = setTimeout(onDeath, 2_000, 'no process');
    expect(await death).toBe(other.name);
    clearTimeout(late);
    await peers.close();
  },
);
