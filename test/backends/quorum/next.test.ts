/** Which of several processes is next at a key, by the notes that they write at three nodes. */
import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Hints } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { noted } from './noted.ts';

test('of a key that it has not used a process knows nothing, and looks at nothing', async () => {
  const { count, process, look } = noted();
  const own = process();
  await look(own);
  own.noteGrant('k');
  expect([own.yields('k'), own.isNext('k'), own.sparesNodes('k'), count.reads]).toEqual([false, false, false, 0]);
});

test('who has waited long enough is next, and who came later goes behind it', async () => {
  const { clock, process, look, waiter } = noted();
  await clock.advance(5_000);
  const first = await waiter(30);
  const second = process();
  second.noteRefusal('k');
  await clock.advance(20);
  await second.refresh('k'); // it ends when that is known
  expect(second.yields('k')).toBe(true);
  await look(first);
  expect([first.isNext('k'), first.yields('k')], 'who came first').toEqual([true, false]);
  expect([second.isNext('k'), second.yields('k')], 'who came later').toEqual([false, true]);
});

test('who has waited longer than the next one takes its place', async () => {
  const { clock, process, look, waiter } = noted();
  const longest = process();
  longest.noteRefusal('k');
  await clock.advance(300);
  const first = await waiter(30);
  await look(longest);
  await clock.advance(25);
  await look(first);
  expect([longest.isNext('k'), longest.yields('k'), first.isNext('k'), first.yields('k')]).toEqual([
    ...[true, false, false, true],
  ]);
});

test('a note that says the same at a second look is as old as at the first one', async () => {
  const { clock, process, look, waiter } = noted();
  const own = process();
  own.noteRefusal('k');
  await clock.advance(60);
  await waiter(40);
  await look(own);
  expect(own.yields('k'), 'to a note that may be old').toBe(true);
  await clock.advance(30);
  await look(own);
  expect(own.yields('k'), 'as it was').toBe(true);
});

test('of two that write their notes at the same moment one is next: they look again when both are there, 5 ms later', async () => {
  const { clock, process, look } = noted();
  const [first, second] = [process(), process()];
  first.noteRefusal('k');
  await clock.advance(10);
  second.noteRefusal('k');
  await clock.advance(30);
  const ended = second.refresh('k').then(() => second.yields('k'));
  await look(first);
  expect(await ended, 'it ends when the second look has ended').toBe(true);
  expect(clock.now()).toBe(45);
  expect([first.isNext('k'), second.isNext('k'), second.yields('k')]).toEqual([true, false, true]);
});

test('two that have waited equally long never both go behind the other, also where each reads only the note of the other', async () => {
  const clock = manualClock();
  const notes: (string | undefined)[] = [];
  const [one, other] = [0, 1].map((own) => {
    const write: Hints['write'] = async (_, text) => {
      notes[own] = text;
    };
    return noted({ read: async () => notes[1 - own], write }, clock);
  }) as [ReturnType<typeof noted>, ReturnType<typeof noted>];
  const both = [one.process(), other.process()];
  for (const each of both) each.noteRefusal('k');
  await clock.advance(30);
  await one.look(...both);
  expect(both.map((each) => each.yields('k'))).not.toEqual([true, true]);
});

test('the next one reads its note every 25 ms, and writes it again 80 ms after it wrote it', async () => {
  const { clock, look, waiter, asked } = noted();
  const own = await waiter(40); // it wrote its note then, and read it 5 ms later
  const at = async (time: number) => {
    await clock.advance(time - clock.now());
    return asked(() => look(own));
  };
  expect(await at(60), '15 ms after it read').toEqual({ reads: 0, writes: 0 });
  expect(await at(75), '30 ms after it read').toEqual({ reads: 3, writes: 0 });
  expect(await at(120), '80 ms after it wrote').toEqual({ reads: 3, writes: 3 });
  expect(await at(199), '79 ms after that').toEqual({ reads: 3, writes: 0 });
});

test('who has waited for a second asks one node whether the next one is still the same: who is next itself, and who is behind it', async () => {
  const { clock, process, look, asked } = noted();
  const [first, second] = [process(), process()];
  first.noteRefusal('k');
  await clock.advance(300);
  second.noteRefusal('k');
  await clock.advance(1_050);
  expect(await asked(() => look(first)), 'all nodes, and one when its note is written').toEqual({
    reads: 4,
    writes: 3,
  });
  expect(await asked(() => look(second)), 'all nodes').toEqual({ reads: 3, writes: 0 });
  expect([first.sparesNodes('k'), second.yields('k')]).toEqual([true, true]);
  await clock.advance(50);
  expect(await asked(() => look(first)), 'one node').toEqual({ reads: 1, writes: 0 });
  expect(await asked(() => look(second)), 'none while it rests').toEqual({ reads: 0, writes: 0 });
  await clock.advance(10);
  expect(await asked(() => look(second)), 'one node').toEqual({ reads: 1, writes: 0 });
  expect([first.isNext('k'), second.yields('k')]).toEqual([true, true]);
  first.noteGrant('k');
  await clock.advance(60);
  expect(await asked(() => look(second)), 'one node, and all where it names another').toMatchObject({
    reads: 5,
    writes: 3,
  });
  expect(second.isNext('k')).toBe(true);
});

test.each<[string, readonly (number | undefined)[], number]>([
  ['no answer is known, for 20 ms', [undefined], 20],
  ['one took 10 ms, for sixteen of these', [10], 160],
  ['it was not asked meanwhile, for as long as before', [10, undefined], 160],
  ['the next one took 20 ms, for a fifth of the difference longer', [10, 20], 192],
])('a process is patient by how long the nodes took: where %s', async (_, took, patience) => {
  const { clock, process, look, asked } = noted();
  const own = process();
  for (const each of took) own.noteRefusal('k', each);
  await clock.advance(patience - 1);
  expect(await asked(() => look(own))).toEqual({ reads: 0, writes: 0 });
  expect(own.isNext('k'), 'a moment before').toBe(false);
  await clock.advance(patience - clock.now());
  expect(clock.now()).toBe(patience);
  await look(own);
  expect(own.isNext('k'), 'then').toBe(true);
});

test('who has not asked for two seconds no longer waits, and is not next', async () => {
  const { clock, look, waiter } = noted();
  const own = await waiter(20);
  await clock.advance(1_999 - clock.now());
  await look(own);
  expect(own.isNext('k'), 'a moment before').toBe(true);
  await clock.advance(2_000 - clock.now());
  await look(own);
  expect(own.isNext('k'), 'then').toBe(false);
});

test('who is next and gets the key is not next any more, its note is gone, and its next wait begins anew', async () => {
  const { clock, note, during, look, waiter, settled } = noted();
  const own = await waiter(40);
  own.noteGrant('k');
  await settled();
  expect([own.isNext('k'), await during(note.read('k'))]).toEqual([false, undefined]);
  own.noteRefusal('k');
  await clock.advance(19);
  await look(own);
  expect(own.isNext('k')).toBe(false);
});

test('who gets the key and was not next leaves the note of the one that is', async () => {
  const { note, during, process, waiter, settled } = noted();
  await waiter(40);
  const own = process();
  own.noteRefusal('k');
  own.noteGrant('k');
  await settled();
  expect(await during(note.read('k'))).toMatchObject({ waited: 40 });
});

test('a release looks at the note where others may wait: after a refusal, or where the key was asked for again within half a second', async () => {
  const { clock, process, settled, asked } = noted();
  const own = process();
  await clock.advance(1_000);
  const looks: string[] = [];
  for (const [when, later, refused] of [
    ['the first time', 0, false],
    ['after half a second', 500, false],
    ['sooner', 499, false],
    ['24 ms after the last look', 24, false],
    ['25 ms after it', 1, false],
    ['after a second', 1_000, false],
    ['after a refusal', 1_000, true],
  ] as const) {
    await clock.advance(later);
    if (refused) own.noteRefusal('k');
    own.noteGrant('k');
    const { reads } = await asked(() => {
      own.noteRelease('k');
      return settled();
    });
    if (reads > 0) looks.push(when);
  }
  expect(looks).toEqual(['sooner', '25 ms after it', 'after a refusal']);
});

test('who gives the key back and lets another one go first waits from its next attempt on', async () => {
  const { clock, look, waiter, process } = noted();
  await waiter(40);
  const own = process();
  own.noteRefusal('k');
  own.noteGrant('k');
  own.noteRelease('k');
  await own.refresh('k'); // it ends when the look that the release began has ended
  expect(own.yields('k'), 'to the one that waits').toBe(true);
  await clock.advance(500);
  await look(own);
  expect([own.yields('k'), own.isNext('k')], 'when that one asks no more').toEqual([false, true]);
});

test('of two attempts at the same time one looks at the nodes', async () => {
  const { clock, count, process, look, waiter } = noted();
  await waiter(40);
  const own = process();
  own.noteRefusal('k');
  await clock.advance(20);
  count.reads = 0;
  await look(own, own);
  expect(count.reads, 'once at each node').toBe(3);
});

test('who gives up is next no more, and the others need not wait until its note expires', async () => {
  const { clock, process, look, waiter, settled } = noted();
  const first = await waiter(1_500);
  first.noteRefusal('k');
  const second = process();
  second.noteRefusal('k');
  await clock.advance(30);
  await look(second);
  expect(second.yields('k'), 'while it waits').toBe(true);
  first.noteGivenUp('k');
  await settled();
  await look(second);
  expect([first.isNext('k'), second.yields('k')]).toEqual([false, false]);
});

test('a key is not idle for seconds after who waited for it for long has given up', async () => {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const process = () => createLocks(quorum(nodes, { clock }), { clock }).mutex('k');
  const advance = async (ms: number): Promise<void> => {
    for (let i = 0; i < ms; i += 5) await clock.advance(5);
  };
  const holding = process().acquire({ ttl: '30s' });
  await advance(100);
  const lease = await holding;
  const patient = process().acquire({ wait: '45s' });
  patient.catch(() => {});
  await advance(43_000);
  let grantedAt = Number.POSITIVE_INFINITY;
  const next = process().acquire();
  void next.then(() => (grantedAt = clock.now()));
  await advance(2_010);
  await expect(patient).rejects.toThrow(/45000 ms/);
  const freedAt = clock.now();
  const freed = lease.release();
  await advance(5_000);
  await Promise.all([freed, next]);
  expect(grantedAt - freedAt, 'ms after it was free').toBeLessThan(1_000);
});

test('a process that waits for very many keys is still next at the first of them', async () => {
  const { clock, process, look } = noted();
  const own = process();
  own.noteRefusal('k');
  for (let key = 0; key < 1_200; key++) own.noteRefusal(`${key}`);
  await clock.advance(30);
  await look(own);
  expect(own.isNext('k')).toBe(true);
});
