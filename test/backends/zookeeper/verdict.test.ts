import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineOf, type Member } from '../../../src/backends/zookeeper/names.ts';
import { type Verdict, verdictOn } from '../../../src/backends/zookeeper/verdict.ts';
import { admitted, EXCLUSIVE, type Seats, SHARED } from '../../../src/core/admission.ts';

const member = (seats: Seats, at: number): Member => ({ name: `n${at}`, number: at, ...seats });
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
      for (const [at, { name }] of line.entries()) expect(verdictOn(line, name)?.admitted).toBe(at < inside);
    }),
  );
});

test('a name that is not in the line has no verdict', () => {
  expect(verdictOn(lineOf(['_c_g-lock-0000000001']), '_c_g-lock-0000000002')).toBeUndefined();
});

/** Everyone looks when they join and when their one watch has told; nobody asks by a timer. */
class Crowd {
  line: Member[] = [];
  /** Verdicts since the last departure, and how many looked at all. */
  looks = 0;
  readonly #knows = new Map<string, Verdict>();
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
    const told = [...this.#knows].filter(([, knows]) => !knows.admitted && (knows.behind ?? 'children') === what);
    for (const [name] of told) this.#look(name);
  }

  #look(name: string): void {
    const verdict = verdictOn(this.line, name);
    if (!verdict) return;
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
