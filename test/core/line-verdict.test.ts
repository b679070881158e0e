import fc from 'fast-check';
import { expect, test } from 'vitest';
import { admitted, EXCLUSIVE, type Seats, SHARED } from '../../src/core/admission.ts';
import { type Admitted, type Refused, verdictOn } from '../../src/core/line-verdict.ts';

type Member = Seats & { readonly name: string };
const member = (seats: Seats, at: number): Member => ({ name: `n${at}`, ...seats });
const seats = fc.constantFrom<Seats>(
  EXCLUSIVE,
  SHARED,
  { take: 1, of: 2 },
  { take: 1, of: 3 },
  { take: 2, of: 3 },
  { take: 3, of: 3 },
);

test('who is admitted is what the rule says', () => {
  fc.assert(
    fc.property(fc.array(seats, { minLength: 1, maxLength: 12 }), (all) => {
      const line = all.map(member);
      const inside = admitted(line);
      for (const at of line.keys()) expect(verdictOn(line, at).admitted).toBe(at < inside);
    }),
  );
});

const permit: Seats = { take: 1, of: 2 };
test.each<[string, Seats[], number, string]>([
  ['an exclusive claim its predecessor', [EXCLUSIVE, EXCLUSIVE, EXCLUSIVE], 2, 'n1'],
  ['a writer the last reader', [SHARED, SHARED, EXCLUSIVE], 2, 'n1'],
  ['a reader the nearest writer ahead', [EXCLUSIVE, EXCLUSIVE, SHARED, SHARED], 3, 'n1'],
  ['the first waiting permit all who hold', [permit, permit, permit], 2, 'line'],
  ['a later permit the one before it', [permit, permit, permit, permit], 3, 'n2 and its news'],
  ['a reader in a room of permits all who hold', [permit, permit, SHARED], 2, 'line'],
])('what a waiter watches: %s', (_, wishes, at, expected) => {
  const verdict = verdictOn(wishes.map(member), at) as Refused<Member>;
  expect(`${verdict.behind?.name ?? 'line'}${verdict.relayed ? ' and its news' : ''}`).toBe(expected);
});

/** Everyone looks when they join and when their one watch has told; nobody asks by a timer. */
class Crowd {
  line: Member[] = [];
  /** Verdicts since the last departure, and how many looked at all. */
  looks = 0;
  readonly #knows = new Map<string, Admitted | Refused<Member>>();
  #joined = 0;

  join(wish: Seats): void {
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
  const step = fc.oneof({ weight: 3, arbitrary: seats }, { weight: 2, arbitrary: fc.nat() });
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
  ['permits', { take: 1, of: 3 }, 2],
] as const)('of a thousand waiting %s a departure makes no more look than it must', ([, wish, most]) => {
  const crowd = new Crowd();
  for (let i = 0; i < 1_000; i++) crowd.join(wish);
  crowd.looks = 0;
  for (let i = 0; i < 100; i++) crowd.leave(0);
  expect(crowd.looks).toBeLessThanOrEqual(100 * most);
});
