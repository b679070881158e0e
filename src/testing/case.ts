import { systemClock } from '../core/index.ts';
import { type Law, MET, type Need } from './law.ts';
import { limited, stepUntilEnd } from './limited.ts';
import type { ManualClock } from './manual-clock.ts';
import { Scene } from './scene.ts';
import type { Subject } from './subject.ts';

/** A law for one subject, for any test runner: `run` rejects when the backend breaks the law. */
export interface Case {
  /** The promise, in words. */
  readonly name: string;
  /** What the subject needs. If it lacks something, the case attempts nothing. */
  readonly needs: readonly Need[];
  /**
   * The case uses keys with fixed names: run no other case of the same engine and prefix beside it. All others may run side by
   * side.
   */
  readonly alone: boolean;
  /** Rejects when the backend breaks the law, or after 30 s. */
  run(): Promise<Outcome>;
}

/** What a case found. */
export interface Outcome {
  /** The first need that the subject does not meet: the case tried nothing. Undefined: the backend kept the law. */
  readonly excludedBy?: Need;
}

/** The longest time for a case, ms: it fails an engine that never answers, so that the run does not hang. */
const LIMIT = 30_000;

export function caseOf(subject: Subject, law: Law): Case {
  const { name, needs, alone = false } = law;
  return {
    name,
    needs,
    alone,
    async run() {
      // In real time: to open a subject may mean real work, also with a manual clock.
      const scene = await limited(
        Scene.open(subject),
        LIMIT,
        `${subject.name} did not open in ${LIMIT} ms`,
        systemClock,
      );
      const excludedBy = needs.find((need) => !MET[need](scene.clients[0], subject));
      await driven(excludedBy ? scene.close() : trial(scene, law), subject.clock);
      return { excludedBy };
    },
  };
}

async function trial(scene: Scene, { name, check }: Law): Promise<void> {
  try {
    const message = `${scene.subject.name}: "${name}" has not ended after ${LIMIT} ms`;
    await limited(check(scene), LIMIT, message, scene.clock);
  } finally {
    await scene.close();
  }
}

/** A manual clock stands still unless somebody moves it, and the work waits for it. */
const driven = (work: Promise<void>, clock: ManualClock | undefined): Promise<void> =>
  clock ? stepUntilEnd(work, () => clock.advance(1)) : work;
