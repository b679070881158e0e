import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { Poller } from '../../../src/backends/mysql/poller.ts';
import { RowQueue } from '../../../src/backends/mysql/stored-queue.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim, Grant } from '../../../src/core/contract/backend.ts';
import { until } from '../../kit/wait.ts';

const POLL = 25;
const place = (id: string, token: number): string => `@${id} 9000000000000000 ${token} 1 1 30000000 1 - ;`;
const waiter: Claim = {
  ...{ key: 'key', id: 'waiter', ...EXCLUSIVE, ttl: 30_000, queue: true },
  ...{ tokenCount: 1, within: 5_000, label: '' },
};

/** A poller of one waiter behind these claims, and how often it has looked. */
async function scene(...ahead: string[]) {
  const clock = manualClock();
  const state = { ahead, looks: 0, granted: undefined as Grant | undefined };
  const text = (): string => [...state.ahead, 'waiter'].map((id, i) => place(id, i + 1)).join('');
  const look = async () => {
    state.looks++;
    return new Map([['key', new RowQueue({ queue: text(), now: 1 })]]);
  };
  const poller = new Poller(clock, POLL, look);
  const watch = poller.watch(waiter, (grant) => {
    state.granted = grant;
  });
  const looksWithin = async (ms: number): Promise<number> => {
    const before = state.looks;
    for (let i = 0; i < ms; i += 5) await clock.advance(5);
    return state.looks - before;
  };
  return { state, looksWithin, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
}

test('while nothing moves, a waiter looks less and less often, and four times a second at least', async () => {
  await using poller = await scene('holder');
  expect(await poller.looksWithin(500), 'at first').toBeGreaterThan(15);
  await poller.looksWithin(60_000);
  const looks = await poller.looksWithin(10_000);
  expect(looks).toBeGreaterThan(38);
  expect(looks).toBeLessThan(60);
});

test('a queue that moves is looked at often again, and the grant arrives', async () => {
  await using poller = await scene('first', 'second');
  await poller.looksWithin(60_000);
  poller.state.ahead = ['second'];
  await poller.looksWithin(300);
  expect(await poller.looksWithin(500)).toBeGreaterThan(15);
  poller.state.ahead = [];
  await poller.looksWithin(50);
  await until('the grant', () => poller.state.granted?.token === 1n);
});

/** A poller of one waiter and many holds. */
async function withHolds(count: number) {
  const clock = manualClock();
  const state = { read: 0, woken: 0, gone: false };
  const look = async (keys: readonly string[]) => {
    state.read += keys.length;
    const queueOf = (key: string): string => {
      if (key === 'key') return place('holder', 1) + place('waiter', 2);
      return state.gone ? '' : place(key, 1);
    };
    return new Map(keys.map((key) => [key, new RowQueue({ queue: queueOf(key), now: 1 })]));
  };
  const poller = new Poller(clock, POLL, look);
  for (let i = 0; i < count; i++) poller.watchHold({ ...waiter, key: `hold${i}`, id: `hold${i}` }, () => state.woken++);
  poller.watch(waiter, () => {});
  return { clock, poller, state };
}

test('the rows of the holds are read about once a second, however often the waiters look', async () => {
  const { clock, poller, state } = await withHolds(100);
  await clock.advance(10_000);
  poller.close();
  expect(state.read, 'rows in 10 s').toBeGreaterThan(900);
  expect(state.read, 'rows in 10 s').toBeLessThan(1_800);
});

test('a hold that is gone is noticed within about a second beside a waiter, and at once if something has changed', async () => {
  const { clock, poller, state } = await withHolds(2);
  await clock.advance(5_000);
  expect(state.woken, 'woken while they hold').toBe(0);
  state.gone = true;
  await clock.advance(1_100);
  expect(state.woken).toBeGreaterThan(1);
  state.woken = 0;
  poller.hurry();
  await clock.advance(1);
  expect(state.woken, 'woken at once').toBe(2);
  poller.close();
});
