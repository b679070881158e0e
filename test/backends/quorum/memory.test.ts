import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { LeaseMemory, leaseClasses } from '../../../src/backends/quorum/lease-memory.ts';
import { ServerIdentity } from '../../../src/backends/quorum/server-identity.ts';
import { closedError, meaning } from '../../../src/backends/redis/errors.ts';
import type { Backend, Hints, Run } from '../../../src/core/contract/backend.ts';
import { LockError } from '../../../src/core/contract/errors.ts';

const DAY = 86_400_000;
const MAX = 300_000;
const LEASE = '\u0001quorum/lease/';
const RUN = '\u0001quorum/run';
const BORN = '\u0001quorum/born';
const PROOF = '\u0001quorum/proof';

const overBackend = (backend: Backend, clock = manualClock()): LeaseMemory =>
  new LeaseMemory(new ServerIdentity(backend, 'node 1', []), MAX, clock);

/** What a quorum remembers at a node, and what that node was told to keep. @param run the run that the node says it is */
function scene(notes: Partial<Hints> = {}, run: () => Run | undefined = () => undefined) {
  const kept = new Map<string, string>();
  const written: unknown[] = [];
  const all: Hints = {
    read: async (name) => kept.get(name),
    write: async (name, text, ttl) => {
      written.push([name, text, ttl]);
      kept.set(name, text!);
    },
    ...notes,
  };
  return { it: overBackend(around(memory(), { hints: all, incarnation: run as () => Run })), kept, written };
}
const without = (): LeaseMemory => overBackend(around(memory(), { hints: undefined as never }));
const refused = async (): Promise<never> => {
  throw new LockError('LOCK_UNAVAILABLE', 'no right to do that');
};
const broken = async (): Promise<never> => {
  throw new Error('connection lost');
};

test('leases are remembered rounded up to one of few, the last of which is the longest there may be', () => {
  expect(leaseClasses(500)).toEqual([500]);
  expect(leaseClasses(1_000)).toEqual([1_000]);
  expect(leaseClasses(5_000)).toEqual([1_000, 2_000, 3_000, 5_000]);
  expect(leaseClasses(30_000)).toEqual([1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 30_000]);
});

test('a node remembers a lease and every shorter one, from when its note is written', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { it } = scene({ write: () => promise });
  expect(it.remembers(1, 0), 'at first').toBe(false);
  let noted = false;
  const noting = it.noteLease(4_000, 0).then(() => {
    noted = true;
  });
  await new Promise(setImmediate);
  expect([noted, it.remembers(4_000, 0)], 'while it is written').toEqual([false, false]);
  resolve();
  await noting;
  expect(
    [5_000, 5_001].map((ttl) => it.remembers(ttl, 0)),
    'then',
  ).toEqual([true, false]);
});

test('a note of a lease is kept for a day longer than any lease', async () => {
  const { it, written } = scene();
  await it.noteLease(4_000, 0);
  await it.noteLease(2 * MAX, 0);
  expect(written).toEqual([
    [`${LEASE}5000`, '1', DAY + MAX],
    [`${LEASE}${MAX}`, '1', DAY + MAX],
  ]);
});

test('a note that a closed client refused is not taken for written', async () => {
  let closed = true;
  const write = async (): Promise<void> => {
    if (closed) throw meaning(closedError(), 'keep a hint');
  };
  const { it } = scene({ write });
  await expect(it.noteLease(4_000, 0)).rejects.toThrow('CLOSED');
  expect(it.remembers(4_000, 0), 'while the client is closed').toBe(false);
  closed = false;
  await it.noteLease(4_000, 0);
  expect(it.remembers(4_000, 0), 'when it is connected').toBe(true);
});

test.each([
  'OOM command not allowed when used memory > maxmemory.',
  'password authentication failed for user "app"',
  "The table 'hints' is full",
])('a note that a server refused for a time is not taken for written: %s', async (refusal) => {
  let refuses = true;
  const write = async (): Promise<void> => {
    if (refuses) throw new LockError('LOCK_UNAVAILABLE', refusal);
  };
  const { it } = scene({ write });
  await expect(it.noteLease(4_000, 0)).rejects.toThrow(refusal);
  refuses = false;
  await it.noteLease(4_000, 0);
  refuses = true;
  await it.noteLease(4_000, DAY / 4); // a hold can still be renewed: the note from before is still there
  await expect(it.noteLease(30_000, DAY / 4), 'a longer lease').rejects.toThrow(refusal);
  await expect(it.noteLease(4_000, DAY / 2), 'when the note from before may end').rejects.toThrow(refusal);
});

test('a note that is in use is written again after a quarter of a day', async () => {
  const { it } = scene();
  const again = DAY / 4;
  await it.noteLease(10_000, 0);
  expect([again - 1, again].map((now) => it.remembers(10_000, now))).toEqual([true, false]);
  await it.noteLease(1_000, again - 1);
  expect(it.remembers(10_000, again - 1), 'a shorter one beside it').toBe(true);
  expect(it.remembers(1_000, again), 'the longer one is as old as it was').toBe(false);
  await it.noteLease(10_000, again);
  expect([2 * again - 1, 2 * again].map((now) => it.remembers(10_000, now))).toEqual([true, false]);
});

test('a longer lease is written again as well, although a shorter one was the first after a quarter of a day', async () => {
  const { it, written } = scene();
  await it.noteLease(60_000, 0);
  await it.noteLease(5_000, DAY / 4);
  expect(it.remembers(60_000, DAY / 4), 'a long lease whose note was not written again').toBe(false);
  await it.noteLease(60_000, DAY / 4);
  expect(written.slice(-1), 'the note of the long lease').toEqual([[`${LEASE}${100_000}`, '1', DAY + MAX]]);
  expect(it.remembers(60_000, DAY / 2 - 1), 'then').toBe(true);
});

test('of another run nothing is known, but which lease the last one was to remember', async () => {
  const { it } = scene();
  expect(it.forget(), 'of one that was not told anything').toBe(0);
  await it.noteLease(4_000, 0);
  expect(it.forget()).toBe(5_000);
  expect(it.remembers(1, 0)).toBe(false);
  expect(it.forget(), 'it is asked once').toBe(0);
  await it.noteLease(1_000, 1_000);
  expect(it.remembers(1_000, DAY / 4), 'its notes are as old as they are').toBe(true);
});

test('it is looked for the longest lease, the run that counted, and the runs it was new with', async () => {
  const { it, kept } = scene();
  const nothing = { remembers: true, marked: undefined, born: [], kept: false, longest: 0 };
  expect(await it.readHints({ id: 'a' })).toEqual(nothing);
  for (const lease of [1_000, 20_000, 3_000]) kept.set(`${LEASE}${lease}`, '1');
  kept.set(RUN, 'b');
  kept.set(BORN, 'b\nc');
  expect(await it.readHints({ id: 'a', durable: true })).toEqual({
    ...{ remembers: true, marked: 'b', born: ['b', 'c'], kept: false, longest: 20_000 },
  });
});

test('a look that falls between the writes of another process finds no lease without the mark of its run', async () => {
  const writes = [
    [BORN, 'a\nb'],
    [RUN, 'a'],
    [`${LEASE}10000`, '1'],
  ] as const;
  for (let before = 0; before <= leaseClasses(MAX).length + 2; before++) {
    let reads = 0;
    const { it, kept } = scene({
      read: async (name) => {
        if (reads++ === before) for (const [note, text] of writes) kept.set(note, text);
        return kept.get(name);
      },
    });
    const { longest, marked } = await it.readHints({ id: 'a' });
    expect(longest === 0 || marked === 'a', `written before read ${before}: ${longest} ms, of run ${marked}`).toBe(
      true,
    );
  }
});

test.each([
  ['is kept where both runs keep everything', 'b durable 1', ' durable 1', true, true],
  ['is not kept where the last one does not say so', 'b', ' durable 1', true, false],
  ['is not kept where this one does not say so', 'b durable 1', ' durable 1', false, false],
  ['is not kept where the mark came after the data was lost', 'b durable 1', undefined, true, false],
  ['is not kept where another mark was written in between', 'b durable 1', ' durable 2', true, false],
])('the data of the earlier run %s', async (_, mark, proof, durable, keeps) => {
  const { it, kept } = scene();
  kept.set(RUN, mark);
  if (proof) kept.set(PROOF, proof);
  expect(await it.readHints({ id: 'a', durable })).toMatchObject({ marked: 'b', kept: keeps });
});

test('a run is marked when its votes count, and whom it was new with before that', async () => {
  const run: Run = { id: 'b', durable: true };
  const { it, written, kept } = scene({}, () => run);
  await it.mark({ id: 'a' }, undefined);
  await it.mark(run, ['b', 'c']);
  const proof = kept.get(PROOF)!;
  expect(written).toEqual([
    [RUN, 'a', DAY + MAX],
    [BORN, 'b\nc', DAY + MAX],
    [PROOF, proof, DAY + MAX],
    [RUN, `b${proof}`, DAY + MAX],
  ]);
  expect(await it.readHints({ id: 'c', durable: true }), 'what the next run finds').toMatchObject({
    ...{ marked: 'b', kept: true },
  });
  await it.mark(run, undefined);
  expect(kept.get(PROOF)).not.toBe(proof);
});

test.each([
  'the proof of it is answered',
  'the mark itself arrives',
])('a run that keeps everything and ends before %s does not show that the next run kept its data', async (when) => {
  let run: Run = { id: 'a', durable: true };
  const restart = (): void => {
    run = { id: 'b', durable: true };
    kept.clear();
  };
  // The client sends what was not answered again, to the next run.
  const late = when === 'the mark itself arrives' ? RUN : PROOF;
  const { it, kept } = scene(
    {
      write: async (name, text) => {
        if (name === late && run.id === 'a') restart();
        kept.set(name, text!);
      },
    },
    () => run,
  );
  await it.mark(run, undefined);
  expect(kept.has(late), 'what came late').toBe(true);
  expect(await it.readHints(run)).toMatchObject({ kept: false });
});

test('a run is marked only after the runs it was new with are written down', async () => {
  const asked: string[] = [];
  const writes: (() => void)[] = [];
  const { it } = scene({
    write: (name) => {
      asked.push(name);
      return new Promise((resolve) => writes.push(resolve));
    },
  });
  let marked = false;
  const marking = it.mark({ id: 'a' }, ['a']).then(() => {
    marked = true;
  });
  await new Promise(setImmediate);
  expect(asked).toEqual([BORN]);
  writes[0]!();
  await new Promise(setImmediate);
  expect([asked, marked]).toEqual([[BORN, RUN], false]);
  writes[1]!();
  await marking;
});

const NOTHING = { remembers: false, marked: undefined, born: [], kept: false, longest: 0 };

test('a node that keeps no notes is asked for none', async () => {
  const it = without();
  expect(it.remembers(MAX, 0)).toBe(true);
  await it.mark({ id: 'a' }, ['a']);
  expect(await it.readHints({ id: 'a' })).toEqual(NOTHING);
});

test('where the right to keep notes is missing, the node is one that remembers nothing', async () => {
  const { it } = scene({ read: refused, write: refused });
  await it.noteLease(1_000, 0);
  expect(it.remembers(1_000, 0), 'it is not asked for each lease').toBe(true);
  expect(await it.readHints({ id: 'a' })).toEqual(NOTHING);
  await it.mark({ id: 'a' }, ['a']);
});

test('a node that cannot be reached has not remembered anything', async () => {
  const { it } = scene({ read: broken, write: broken });
  await expect(it.noteLease(1_000, 0)).rejects.toThrow('connection lost');
  expect(it.remembers(1_000, 0)).toBe(false);
  await expect(it.readHints({ id: 'a' })).rejects.toThrow('connection lost');
  await expect(it.mark({ id: 'a' }, undefined)).rejects.toThrow('connection lost');
});

test('a new node is read once, and one that has a lease and no mark is read again', async () => {
  const names: string[] = [];
  const { it, kept } = scene({
    read: async (name) => {
      names.push(name);
      return kept.get(name);
    },
  });
  const reads = async (): Promise<number> => {
    names.length = 0;
    await it.readHints({ id: 'a' });
    return names.filter((name) => name === RUN).length;
  };
  expect(await reads(), 'new').toBe(1);
  kept.set(`${LEASE}10000`, '1');
  expect(await reads(), 'with a lease').toBe(2);
  kept.set(RUN, 'a');
  expect(await reads(), 'with both').toBe(1);
});

test('a node that names no run is told whom it was new with, and of no run that it counts', async () => {
  const { it, written } = scene();
  await it.mark(undefined, ['a', 'b']);
  await it.mark(undefined, undefined);
  expect(written).toEqual([[BORN, 'a\nb', DAY + MAX]]);
});
