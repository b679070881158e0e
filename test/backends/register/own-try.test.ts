import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { memoryStore, type Shared, shared } from '../../kit/register-store.ts';
import { claim } from './claim.ts';

type Write = RegisterStore['write'];

/** A store whose next write of a line goes another way than the others. */
function detouring(all: Shared, clock = manualClock()) {
  const store = memoryStore(all, { clock });
  const { write } = store;
  const way: { next?: Write | undefined } = {};
  store.write = (key, ...rest) => {
    const { next } = way;
    if (!next || !key.includes('/l/')) return write(key, ...rest);
    way.next = undefined;
    return next(key, ...rest);
  };
  return { backend: register(store, { clock }), way, write };
}

test.each([
  ['a try of a caller that is late by then', { within: 500 }],
  ['a claim that joins the line', { within: 500, queue: true }],
])('where a write is refused because its own first try is under way, it leaves no hold of nobody: %s', async (_, wish) => {
  const all = shared();
  const clock = manualClock();
  const { backend, way, write } = detouring(all, clock);
  let landed: Promise<unknown> | undefined;
  way.next = async (...call) => {
    // The client had no answer and sent it again; the store says of the second that another write of the object is under way.
    await new Promise<void>((resolve) => clock.after(600, resolve));
    clock.after(1_000, () => {
      landed = Promise.resolve(write(...call));
    });
    return false;
  };
  const attempt = backend.attempt(claim('a', { queue: false, ...wish }));
  await clock.advance(5_000);
  expect(await attempt).toMatchObject({ granted: false, late: true });
  expect(await landed, 'the first try, which came after all').toBe(false);
  const other = register(memoryStore(all, { clock }), { clock });
  expect(await other.attempt(claim('b', { queue: false })), 'a newcomer').toMatchObject({ granted: true });
});

describe('a write that its client sent twice, over which another process has written meanwhile', () => {
  /** Its first try is taken, somebody joins the line, and the second try is refused. */
  async function twice(act: (backend: Backend, token: bigint) => Promise<unknown>): Promise<unknown> {
    const all = shared();
    const { backend, way, write } = detouring(all);
    const other = register(memoryStore(all));
    const grant = await backend.attempt(claim('a'));
    if (!grant.granted) return expect.fail('the first claim must be granted');
    way.next = async (...call) => {
      expect(await write(...call)).not.toBe(false);
      expect(await other.attempt(claim('b'))).toMatchObject({ granted: true });
      return write(...call);
    };
    return act(backend, grant.token);
  }

  test('a release knows that it freed', async () => {
    expect(await twice((backend) => backend.release({ key: 'k', id: 'a' }))).toMatchObject({ freed: true });
  });

  test('an eviction knows that it freed', async () => {
    expect(await twice((backend, token) => backend.evict!('k', token))).toBe(true);
  });
});

describe('what another process removed first', () => {
  const opened = async () => {
    const all = shared();
    const [one, other] = [register(memoryStore(all)), register(memoryStore(all))];
    const grant = await one.attempt(claim('a'));
    return { one, other, token: grant.granted ? grant.token : expect.fail('the first claim must be granted') };
  };

  test('a release has not freed, though it knew the claim', async () => {
    const { one, other, token } = await opened();
    expect(await other.evict!('k', token)).toBe(true);
    expect(await one.release({ key: 'k', id: 'a' })).toEqual({ freed: false });
  });

  test('an eviction has not freed, though it knew the claim', async () => {
    const { one, other, token } = await opened();
    await other.attempt(claim('b')); // so it knows the line
    expect(await one.release({ key: 'k', id: 'a' })).toEqual({ freed: true });
    expect(await other.evict!('k', token)).toBe(false);
  });
});
