import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import type { Hints, Run } from '../../../src/core/contract/backend.ts';

export const LEASE = '\u0001quorum/lease/';
export const RUN = '\u0001quorum/run';
export const BORN = '\u0001quorum/born';

/** A server as one process sees it: what it says of its run, what it keeps, and what it was asked. */
export class Server {
  run: Run | undefined;
  kept = new Map<string, string>();
  reads = 0;
  readonly written: string[] = [];
  /** Says which run it is. */
  naming: (run: Run) => Run | Promise<Run> = (run) => run;
  /** Resolves, or fails, before it answers a read or a write. */
  reading: () => Promise<void> = () => new Promise(setImmediate);
  writing: (name: string) => Promise<void> = () => new Promise(setImmediate);

  constructor(run: Run | undefined, kept: readonly (readonly [string, string])[] = []) {
    this.run = run;
    this.kept = new Map(kept);
  }

  /** It starts anew, empty or with what it kept. */
  restart(run: Run, keeps = false): void {
    this.run = run;
    if (!keeps) this.kept = new Map();
    this.written.length = 0;
    this.reads = 0;
  }

  readonly hints: Hints = {
    read: async (name) => {
      if (name === RUN) this.reads++;
      await this.reading();
      return this.kept.get(name);
    },
    write: async (name, text) => {
      await this.writing(name);
      this.written.push(name === RUN ? `run ${text}` : name === BORN ? `born ${text}` : name.replace(LEASE, 'lease '));
      this.kept.set(name, text!);
    },
  };

  get backend() {
    const incarnation = this.run && (() => this.naming(this.run!));
    return around(memory(), { hints: this.hints, incarnation: incarnation as never });
  }
}

/** That its votes have counted, and the longest lease they were for. */
export const counted = (run: string, lease = 10_000) =>
  [
    [RUN, run],
    [`${LEASE}${lease}`, '1'],
  ] as const;

/** Three that have counted for so many ms. */
export const three = () =>
  ['a', 'b', 'c'].map((id) => new Server({ id, age: 1_000_000 }, counted(id))) as [Server, Server, Server];
export const newThree = () => ['a', 'b', 'c'].map((id) => new Server({ id, age: 100 })) as [Server, Server, Server];
