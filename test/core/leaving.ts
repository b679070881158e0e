import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import type { Backend, NewValue } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import { LockRuntime } from '../../src/core/queue/runtime.ts';
import type { LockOptions } from '../../src/index.ts';

/** An answer of the engine to a release with words, that may carry it out by `ask`. */
export type Answer = (ask: () => Promise<boolean>) => Promise<boolean>;

interface How {
  /** To the releases with words, one after the other; the last one to all others, too. Default: as the engine answers. */
  readonly answers?: readonly Answer[];
  /** Of the process, where it is not the one of the engine. */
  readonly clock?: Clock;
  readonly backend?: Partial<Backend>;
}

export const leave: NewValue = { text: 'words', ttl: 60_000 };

/** A process whose engine answers releases as it is told; when it was asked for them, with words and without; and the same engine for others. */
export function leaving({ answers = [(ask) => ask()], clock: own, backend }: How = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  const withWords: number[] = [];
  const without: number[] = [];
  const broken = around(engine, {
    release(handle, next) {
      without.push(clock.now());
      return engine.release(handle, next);
    },
    store(handle, words) {
      withWords.push(clock.now());
      return answers[Math.min(withWords.length, answers.length) - 1]!(() => engine.store!(handle, words));
    },
    ...backend,
  });
  const runtime = new LockRuntime(broken, own ?? clock);
  const others = new LockRuntime(engine, clock);
  const options: LockOptions = { ttl: 60_000 };
  const take = async (of = runtime, more: LockOptions = {}) =>
    (await of.take('key', EXCLUSIVE, new LayeredOptions(engine.traits, { ...options, ...more }).terms))!;
  const found = async () => (await engine.values!.look('key')).value;
  const claims = async (): Promise<number> => {
    let count = 0;
    for await (const _ of engine.inspect!('key')) count++;
    return count;
  };
  const closed = async (): Promise<void> => {
    const closing = runtime.close();
    await clock.advance(5_000);
    await closing;
  };
  return { clock, engine, others, take, withWords, without, found, claims, closed };
}
export const cut: Answer = () => Promise.reject(new Error('cut'));
