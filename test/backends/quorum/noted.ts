import { expect } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { memory } from '../../../src/backends/memory.ts';
import { Node } from '../../../src/backends/quorum/node.ts';
import { TurnHint } from '../../../src/backends/quorum/turn-hint.ts';
import { TurnTaking } from '../../../src/backends/quorum/turn-taking.ts';
import type { Hints } from '../../../src/core/contract/backend.ts';
import { CallTimeouts } from '../../../src/core/engine/call-timeouts.ts';

/** Processes that write at three nodes which of them is next at a key, and count what the nodes are asked. */
export function noted(broken: Partial<Hints> = {}, clock = manualClock()) {
  const count = { reads: 0, writes: 0 };
  const guards = { ...{ clock, guarded: false, majority: 2, maxTtl: 300_000, drift: 0 }, all: [], identities: [] };
  const context = { ...guards, timeouts: new CallTimeouts(clock) };
  const nodes = [1, 2, 3].map((number) => {
    const engine = memory({ clock });
    const hints: Hints = {
      ...engine.hints!,
      read: (name) => {
        count.reads++;
        return engine.hints!.read(name);
      },
      write: (...note) => {
        count.writes++;
        return engine.hints!.write(...note);
      },
      ...broken,
    };
    return new Node(around(engine, { hints }), number, context);
  });
  const note = new TurnHint(nodes, 2);
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const process = () => new TurnTaking(note, clock);
  /** Looks at the note once more, as before each attempt. */
  const look = async (...all: readonly TurnTaking[]): Promise<void> => {
    const looking = Promise.all(all.map((each) => each.refresh('k')));
    await clock.advance(0);
    await during(looking);
  };
  /** A process that has waited for so long, and is next. */
  const waiter = async (ms: number): Promise<TurnTaking> => {
    const own = process();
    own.noteRefusal('k');
    await clock.advance(ms);
    await look(own);
    expect(own.isNext('k'), 'who has waited is next').toBe(true);
    return own;
  };
  const settled = () => clock.advance(0);
  /** What the nodes are asked by that. */
  const asked = async (work: () => Promise<unknown>): Promise<{ reads: number; writes: number }> => {
    const { reads, writes } = count;
    await work();
    return { reads: count.reads - reads, writes: count.writes - writes };
  };
  return { clock, count, note, during, process, look, waiter, settled, asked };
}
