import { expect, test } from 'vitest';
import { ArrivalQueue, type Demand, EXCLUSIVE, type QueueMember, SHARED } from '../../src/core/contract/admission.ts';

const member = (demand: Demand) => ({ demand });

test('one who left its place to another lets in those who fit beside that one', () => {
  const line = new ArrivalQueue<{ readonly demand: Demand }>();
  const [writer, one, two, last] = [member(EXCLUSIVE), member(SHARED), member(SHARED), member(EXCLUSIVE)];
  for (const each of [writer, one, two, last]) line.join(each);
  expect(line.successor(writer)).toBe(one);
  line.replace(writer, one);
  expect(line.leave(writer)).toEqual([two]);
  expect(line.isInside(two)).toBe(true);
  expect(line.head).toBe(last);
});

test('one who leaves from the middle lets in whom it kept out', () => {
  const line = new ArrivalQueue<{ readonly demand: Demand }>();
  const [reader, writer, behind] = [member(SHARED), member(EXCLUSIVE), member(SHARED)];
  for (const each of [reader, writer, behind]) line.join(each);
  expect(line.successor(reader)).toBe(writer);
  expect(line.leave(writer)).toEqual([behind]);
  expect(line.members).toEqual([reader, behind]);
});

test('nobody follows one after whom the first outside does not fit', () => {
  const line = new ArrivalQueue<{ readonly demand: Demand }>();
  const [one, two, writer] = [member(SHARED), member(SHARED), member(EXCLUSIVE)];
  for (const each of [one, two, writer]) line.join(each);
  expect(line.successor(one)).toBeUndefined();
  expect(line.successor(writer), 'it is not inside').toBeUndefined();
  line.leave(two);
  expect(line.successor(one)).toBe(writer);
});

test.each([3, 16, 17, 40])('%s who fit beside each other are all inside, in the order in which they came', (most) => {
  const line = new ArrivalQueue<{ readonly demand: Demand }>();
  const [first, second, ...others] = Array.from({ length: most }, () => member(SHARED));
  const writer = member(EXCLUSIVE);
  // Twice: what a full line leaves behind must be as good as new.
  for (const round of [1, 2]) {
    for (const each of [first!, second!, ...others]) expect(line.join(each), `round ${round}`).toBe(true);
    expect(line.join(writer)).toBe(false);
    expect(line.members).toEqual([first, second, ...others, writer]);
    expect(line.members.filter((each) => line.isInside(each))).toEqual([first, second, ...others]);
    expect(line.leave(second!)).toEqual([]);
    expect(line.leave(second!), 'it is gone').toEqual([]);
    expect(line.members).toEqual([first, ...others, writer]);
    for (const each of others) expect(line.leave(each)).toEqual([]);
    expect(line.successor(first!)).toBe(writer);
    expect(line.leave(first!)).toEqual([writer]);
    line.leave(writer);
    expect(line.idle).toBe(true);
  }
});

test.each([3, 17])('one who waits outside of %s leaves nothing behind', (most) => {
  const line = new ArrivalQueue<{ readonly demand: Demand }>();
  const inside = Array.from({ length: most }, () => member(SHARED));
  for (const each of inside) line.join(each);
  const writer = member(EXCLUSIVE);
  line.join(writer);
  expect(line.leave(writer)).toEqual([]);
  expect([line.head, line.members]).toEqual([undefined, inside]);
  expect(line.admits(SHARED)).toBe(true);
});

test('one who left keeps nobody in memory who stood beside it, and may come again as if it had not been there', () => {
  const line = new ArrivalQueue<QueueMember>();
  const [one, two, three]: QueueMember[] = [member(SHARED), member(SHARED), member(SHARED)];
  for (const each of [one!, two!, three!]) line.join(each);
  line.leave(two!);
  expect([two!.before, two!.after]).toEqual([undefined, undefined]);
  line.join(two!);
  expect(line.members).toEqual([one, three, two]);
});

test('a member says whether it is inside, outside or in no queue', () => {
  const line = new ArrivalQueue<QueueMember>();
  const [one, two]: QueueMember[] = [member(EXCLUSIVE), member(EXCLUSIVE)];
  const places = () => [one!.place, two!.place];
  for (const each of [one!, two!]) line.join(each);
  expect(places()).toEqual(['inside', 'outside']);
  line.leave(one!);
  expect(places()).toEqual([undefined, 'inside']);
});

test('one who waits behind the first that waits leaves, and the first is still the next', () => {
  const line = new ArrivalQueue<{ readonly demand: Demand }>();
  const [holder, first, second, third] = [member(EXCLUSIVE), member(EXCLUSIVE), member(SHARED), member(SHARED)];
  for (const each of [holder, first, second, third]) line.join(each);
  expect(line.leave(second)).toEqual([]);
  expect(line.head).toBe(first);
  expect(line.leave(holder)).toEqual([first]);
  expect(line.head).toBe(third);
});
