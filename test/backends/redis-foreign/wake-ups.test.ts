import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { type Port, slotOf } from '../../../src/backends/redis/port.ts';
import { KeyWakeUps } from '../../../src/backends/redis-foreign/wake-ups.ts';
import { claim } from '../quorum/nodes.ts';

test('listens to a server by a key that is still there, after the slot of the first key moved away', async () => {
  const clock = manualClock(1);
  const at = new Map<number, string>(); // slot -> server; else A
  const nodeOf = (slot: number): string => at.get(slot) ?? 'A';
  const listening: { node: string; lost: () => void }[] = [];
  const port = {
    keyPrefix: '',
    cluster: true,
    nodeOf,
    listenForKeys: (slot: number, _: unknown, lost: () => void) => {
      listening.push({ node: nodeOf(slot), lost });
      return { ready: Promise.resolve('1'), hangUp() {} };
    },
    ownConnection: async (slot: number) => {
      const node = nodeOf(slot);
      return {
        command: async (name: string, keys: readonly string[]) => {
          if (name === 'PTTL' && nodeOf(slotOf(keys[0]!)) !== node) throw new Error('MOVED');
          return name === 'PTTL' ? 30_000 : 'OK';
        },
      };
    },
  } as unknown as Port;
  const wakeUps = new KeyWakeUps(port, clock, undefined);
  await (await wakeUps.watch('first', claim({ key: 'first' }), () => {}))[Symbol.asyncDispose]();
  const stays = await wakeUps.watch('stays', claim({ key: 'stays' }), () => {});
  await stays[Symbol.asyncDispose]();

  at.set(slotOf('first'), 'B'); // its slot moves to B, and later the connection to A is lost once
  listening[0]!.lost();
  await clock.advance(5_000);
  const watch = wakeUps
    .watch('stays', claim({ key: 'stays' }), () => {})
    .then(
      () => 'watched',
      (error: Error) => `not watched: ${error.message}`,
    );
  await clock.advance(5_000);
  expect(listening.at(-1)!.node, 'the server of the key that stayed').toBe('A');
  expect(await watch).toBe('watched');
  wakeUps.close();
});
