import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../../products/testing/random.ts';
import type { Backend, StoredValue, ValueRecord } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/locks.ts';
import type { Memo } from '../../../src/memo/memo.ts';
import { Choice } from '../../simulation/choice.ts';
import type { MemoHistory } from '../../simulation/memo/history.ts';
import { MemoRecorder } from '../../simulation/memo/recorder.ts';
import { Lag } from './lag.ts';
import { FAULTS, type Fault, FaultyProcess, STEPS, type Step } from './process.ts';

const PROCESSES = 3;
const CALLERS = 2;
/** The server and all processes share what this machine has left, and only this process is measured. ms */
const BUSY = 2_000;
/** A caller that has no end by then has none, ms. */
export const FOR_EVER = 60_000;
/** What all rounds are like. */
export const SCENE: MemoHistory['scene'] = {
  wakes: 'watch',
  calm: false,
  wakesLost: false,
  keeps: true,
  attempts: Number.POSITIVE_INFINITY,
  refreshes: false,
  forgets: false,
};

/** A process, as the verdict sees it. */
export interface Hurt {
  readonly name: string;
  readonly crashed: boolean;
  /** When the fault was done to it. */
  readonly struck: number | undefined;
  /** When the engine had words of it. */
  readonly leftAt: number | undefined;
}

/** One key that was asked for by several processes, to one of which one fault was planned. */
export interface Round {
  readonly seed: number;
  readonly ttl: number;
  readonly fault: { readonly kind: string; readonly step: string };
  /** The process that the fault was planned for. */
  readonly victim: Hurt;
  readonly processes: readonly Hurt[];
  readonly history: MemoHistory;
  /** The words that were there in the end. */
  readonly left: StoredValue | undefined;
  /** How late this machine let somebody run who was due, at worst. ms */
  readonly lag: number;
  /** How late it may make an answer, ms. */
  readonly busy: number;
}

function drawn(choice: Choice, ttl: number): Fault {
  const step = choice.pick(STEPS);
  return {
    kind: choice.pick(FAULTS),
    step,
    side: step === 'work' ? 'before' : choice.pick(['before', 'after']),
    ms: choice.chance(0.3) ? choice.between(5, ttl / 2) : choice.between(ttl * 1.1, ttl * 2),
  };
}

/**
 * Plays what is drawn from the seed on a key of its own: who asks when, what the work takes, and what is done to whom at which step. What
 * comes of it is up to the engine.
 */
export async function playRound(engine: Backend, key: string, seed: number, ttl: number): Promise<Round> {
  using lag = new Lag();
  const choice = new Choice(randomFrom(seed));
  const fault = drawn(choice, ttl);
  const recorder = new MemoRecorder({
    get now() {
      return performance.now();
    },
  });
  const hit = choice.chance(0.8) ? 0 : choice.whole(1, PROCESSES - 1);
  const processes = Array.from(
    { length: PROCESSES },
    (_, i) => new FaultyProcess(`p${i}`, engine, i === hit ? fault : undefined),
  );
  const works = processes.map(async (process, i) => {
    const own = new Choice(randomFrom(seed * 31 + i));
    const locks = createLocks(process.backend, { clock: process.clock, ttl, label: process.name });
    const memo = locks.memo<string>(key, { keep: '1h' });
    await sleep(i === 0 ? 0 : own.between(1, 20));
    const callers = Array.from({ length: CALLERS }, () => asks(process, memo, own, recorder, fault.step, ttl));
    await Promise.race([Promise.all(callers), process.death]);
    if (process.crashed) recorder.add({ what: 'crashed', by: process.name });
  });
  await Promise.race([Promise.all(works), sleep(FOR_EVER, undefined, { ref: false })]);
  const { value } = await lookedUp(engine, key);
  return {
    ...{ seed, ttl, fault, victim: processes[hit]!, processes, left: value, lag: lag.most, busy: BUSY },
    history: {
      seed,
      scene: SCENE,
      events: recorder.events,
    },
  };
}

/** A server with much to do may end a connection; the look is none of what is tried. */
export async function lookedUp(engine: Backend, key: string): Promise<ValueRecord> {
  for (let again = 10; ; again--) {
    try {
      return await engine.values!.look(key);
    } catch (error) {
      if (again === 0) throw error;
      await sleep(200);
    }
  }
}

async function asks(
  process: FaultyProcess,
  memo: Memo<string>,
  choice: Choice,
  recorder: MemoRecorder,
  step: Step,
  ttl: number,
): Promise<void> {
  const { key } = memo;
  const op = recorder.asks(process, key);
  // A renewal is a step only of work that lasts for so long.
  const takes = step === 'renew' ? choice.between(ttl * 0.5, ttl * 0.9) : choice.between(10, 60);
  const fails = choice.chance(0.1);
  try {
    const result = await memo.run(async (run) => {
      using _ = recorder.begins(op, process, run);
      recorder.see();
      await process.reaches('work');
      await sleep(takes);
      await process.reaches('work', 'after');
      recorder.add({ what: 'done', op, ...(!fails && { value: `value of ${op}` }) });
      if (fails) throw new Error(`error of ${op}`);
      return `value of ${op}`;
    });
    const { value, ran, kept, token } = result;
    await process.goesOn();
    recorder.add({ what: 'had', op, key, value, ran, kept, token });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    await process.goesOn();
    recorder.add({ what: 'missed', op, error: code ?? message });
  }
}
