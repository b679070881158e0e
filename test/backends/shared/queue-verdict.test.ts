import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type OwnClaim, stillRefused } from '../../../src/backends/etcd/queue.ts';
import type { Client } from '../../../src/backends/etcd/wire/client.ts';
import { type Admitted, type Refused, verdictOn } from '../../../src/backends/shared/queue-verdict.ts';
import { admitted, type Demand, EXCLUSIVE, SHARED } from '../../../src/core/contract/admission.ts';

type Member = Demand & { readonly name: string };
const member = (demand: Demand, at: number): Member => ({ name: `n${at}`, ...demand });
const demand = fc.constantFrom<Demand>(
  EXCLUSIVE,
  SHARED,
  { units: 1, capacity: 2 },
  { units: 1, capacity: 3 },
  { units: 2, capacity: 3 },
  { units: 3, capacity: 3 },
);

test('who is admitted is what the rule says', () => {
  fc.assert(
    fc.property(fc.array(demand, { minLength: 1, maxLength: 12 }), (all) => {
      const line = all.map(member);
      const inside = admitted(line);
      for (const at of line.keys()) expect(verdictOn(line, at).admitted).toBe(at < inside);
    }),
  );
});

const permit: Demand = { units: 1, capacity: 2 };
test.each<[string, Demand[], number, string]>([
  ['an exclusive claim its predecessor', [EXCLUSIVE, EXCLUSIVE, EXCLUSIVE], 2, 'n1'],
  ['a writer the last reader', [SHARED, SHARED, EXCLUSIVE], 2, 'n1'],
  ['a reader the nearest writer ahead', [EXCLUSIVE, EXCLUSIVE, SHARED, SHARED], 3, 'n1'],
  ['a reader the writer at the head', [EXCLUSIVE, SHARED, SHARED], 2, 'n0'],
  ['the first waiting permit all who hold', [permit, permit, permit], 2, 'line'],
  ['a later permit the one before it', [permit, permit, permit, permit], 3, 'n2 and its news'],
  ['a reader in a room of permits all who hold', [permit, permit, SHARED], 2, 'line'],
])('what a waiter watches: %s', (_, wishes, at, expected) => {
  const verdict = verdictOn(wishes.map(member), at) as Refused<Member>;
  expect(`${verdict.behind?.name ?? 'line'}${verdict.relayed ? ' and its news' : ''}`).toBe(expected);
});

test.each<[string, Demand[], boolean]>([
  ['a permit the next permit', [permit, permit, permit], true],
  ['a permit no mutex', [permit, EXCLUSIVE], false],
  ['a permit no reader', [permit, SHARED], false],
  ['a permit nobody who takes all of them', [permit, { units: 3, capacity: 3 }], false],
  ['a mutex no permit', [EXCLUSIVE, permit], false],
  ['a permit at the end nobody', [permit], false],
])('who has to be told of an admission: by %s', (_, wishes, relay) => {
  expect(verdictOn(wishes.map(member), 0)).toEqual({ admitted: true, relay });
});

test('a permit that watches another looks at the line by itself after ten seconds, and no sooner', async () => {
  const [name, queue] = [Buffer.from('me'), Buffer.from('queue')];
  const behind = { name: Buffer.from('other') };
  const obstacle = { behind, relayed: true, from: 5n, count: 3n, newest: 3n, listed: 0 };
  const me = { name, queue, token: 3n, state: { is: 'waiting', obstacle } };
  const looksAt = async (now: number): Promise<number> => {
    let looks = 0;
    const client = {
      async txn({ success }: { success: unknown[] }) {
        looks = success.length;
        return { responses: success.map(() => ({ range: { kvs: [], count: 0n } })) };
      },
    };
    await stillRefused(client as unknown as Client, me as unknown as OwnClaim, true, now, 100);
    return looks;
  };
  expect([await looksAt(9_999), await looksAt(10_000)]).toEqual([2, 3]);
});

/** Everyone looks when they join and when their one watch has told; nobody asks by a timer. */
class Crowd {
  line: Member[] = [];
  /** Verdicts since the last departure, and how many looked at all. */
  looks = 0;
  readonly #knows = new Map<string, Admitted | Refused<Member>>();
  #joined = 0;

  join(wish: Demand): void {
    const next = member(wish, this.#joined++);
    this.line.push(next);
    this.#changed('children');
    this.#look(next.name);
  }

  leave(at: number): void {
    const [gone] = this.line.splice(at % this.line.length, 1);
    this.#knows.delete(gone!.name);
    this.#changed('children');
    this.#changed(gone!.name);
  }

  get inside(): string[] {
    return [...this.#knows].filter(([, { admitted }]) => admitted).map(([name]) => name);
  }

  #changed(what: string): void {
    const told = [...this.#knows].filter(([, knows]) => !knows.admitted && (knows.behind?.name ?? 'children') === what);
    for (const [name] of told) this.#look(name);
  }

  #look(name: string): void {
    const at = this.line.findIndex((each) => each.name === name);
    if (at < 0) return;
    const verdict = verdictOn(this.line, at);
    this.looks++;
    this.#knows.set(name, verdict);
    if (verdict.admitted && verdict.relay) this.#changed(name);
  }
}

test('by its one watch alone everybody hears of their admission, whoever leaves in whatever order', () => {
  const step = fc.oneof({ weight: 3, arbitrary: demand }, { weight: 2, arbitrary: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const crowd = new Crowd();
      for (const next of steps) {
        if (typeof next !== 'number') crowd.join(next);
        else if (crowd.line.length > 0) crowd.leave(next);
        const names = crowd.line.slice(0, admitted(crowd.line)).map(({ name }) => name);
        expect(crowd.inside.sort()).toEqual(names.sort());
      }
    }),
    { numRuns: 2_000 },
  );
});

test.for([
  ['mutexes', EXCLUSIVE, 1],
  ['permits', { units: 1, capacity: 3 }, 2],
] as const)('of a thousand waiting %s a departure makes no more look than it must', ([, wish, most]) => {
  const crowd = new Crowd();
  for (let i = 0; i < 1_000; i++) crowd.join(wish);
  crowd.looks = 0;
  for (let i = 0; i < 100; i++) crowd.leave(0);
  expect(crowd.looks).toBeLessThanOrEqual(100 * most);
});
