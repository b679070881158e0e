import { randomFrom } from '../../../products/testing/random.ts';
import type { createLocks, Locks } from '../../../src/locks.ts';
import { Choice } from '../choice.ts';
import { Client, Engine } from '../engine.ts';
import { Network } from '../network.ts';
import { Process, workDone } from '../process.ts';
import { DRIFT, HEALED, TROUBLE, trouble, weatherOf } from '../simulate.ts';
import { World } from '../world.ts';
import type { MemoHistory, MemoScene } from './history.ts';
import { MemoRecorder } from './recorder.ts';

/** Longer than a run lasts. ms */
export const FOR_EVER = 1e8;
const KEYS = ['a', 'b'] as const;
const TTL = 1_500;
/** The age at which a result is made again, ms. */
const REFRESH = 300;
/** After the end: what was unknown is undone or has expired, and words for those who wait are gone. */
const SETTLED = 40_000;

interface Side {
  readonly process: Process;
  readonly client: Client;
  readonly locks: Locks;
  readonly crashed: () => void;
  readonly work: Promise<unknown>;
}

/** The first use of a memo loads what runs it, and that takes real time. */
export const load = (locks: Locks): Promise<unknown> =>
  locks
    .memo('a')
    .run(undefined as never)
    .catch(() => {});

/**
 * A whole run of memos from one seed: some processes ask for the same two keys, through faults.
 * @param create the face of the library, sound or with a planted bug
 */
export async function simulateMemo(seed: number, create: typeof createLocks): Promise<MemoHistory> {
  const choice = new Choice(randomFrom(seed));
  const world = new World();
  const scene: MemoScene = {
    wakes: choice.pick(['buffered', 'buffered', 'watch', 'never']),
    calm: choice.chance(0.25),
    wakesLost: choice.chance(0.3),
    keeps: choice.chance(0.6),
    attempts: choice.pick([Number.POSITIVE_INFINITY, 2, 3]),
    refreshes: choice.chance(0.3),
    forgets: choice.chance(0.4),
  };
  const drift = (): number => 1 + choice.between(-DRIFT, DRIFT);
  const engine = new Engine(new Process('engine', world, drift(), choice.random));
  const network = new Network(world, choice, weatherOf(scene, choice));
  const recorder = new MemoRecorder(world);
  network.onFault = (kind) => recorder.add({ what: 'fault', kind });
  const sides: Side[] = [];
  for (let i = choice.whole(2, 4) - 1; i >= 0; i--) {
    const process = new Process(`p${i}`, world, drift(), randomFrom(seed * 31 + i));
    const client = new Client(engine, network, process, { wakes: scene.wakes, tokenBlocks: true });
    const locks = create(client, { clock: process.clock, ttl: TTL, spin: { bound: 400 } });
    await load(locks);
    const callers = Array.from({ length: choice.whole(1, 4) }, (_, j) =>
      works(process, locks, new Choice(randomFrom(seed * 997 + 13 * i + j)), recorder, scene),
    );
    sides.push({ process, client, locks, crashed: () => {}, work: Promise.all(callers) });
  }
  if (!scene.calm) trouble(world, choice, network, recorder, sides);
  const done = workDone(sides);
  await world.run(TROUBLE, recorder.see);
  network.heal();
  await world.run(TROUBLE + HEALED, recorder.see, done);
  await world.run(world.now + SETTLED, recorder.see);
  const living = sides.filter(({ process }) => !process.crashed);
  recorder.add({
    what: 'left',
    claims: (await engine.standings('')).length,
    timers: living.reduce((sum, { process }) => sum + process.pending, 0),
    watches: living.reduce((sum, { client }) => sum + client.watches, 0),
  });
  return { seed, scene, events: recorder.events };
}

/** One caller: asks again and again, and has work that takes from nothing to longer than a lease, and sometimes fails. */
async function works(
  process: Process,
  locks: Locks,
  choice: Choice,
  recorder: MemoRecorder,
  { keeps, attempts, refreshes, forgets }: MemoScene,
): Promise<void> {
  const keep = keeps ? FOR_EVER : 0;
  for (let times = choice.whole(1, 4); times > 0; times--) {
    await process.sleep(choice.chance(0.5) ? 1 : choice.between(0, 2_000));
    const key = choice.pick(KEYS);
    if (forgets && choice.chance(0.3)) {
      const forgot = recorder.forgets(process, key);
      await locks
        .memo(key)
        .forget()
        .then(forgot, () => {});
    }
    const op = recorder.asks(process, key);
    const limit = attempts < Number.POSITIVE_INFINITY ? { attempts, rest: FOR_EVER } : {};
    const refresh = keeps && refreshes ? { refresh: REFRESH } : {};
    const memo = locks.memo<string>(key, { keep, ...limit, ...refresh });
    const controller = new AbortController();
    if (choice.chance(0.1)) process.clock.after(choice.between(1, 800), () => controller.abort());
    const wait = choice.chance(0.6) ? 'forever' : choice.pick([0, choice.between(1, 1_500)]);
    try {
      const result = await memo.run(
        async (run) => {
          using _ = recorder.begins(op, process, run);
          await process.sleep(choice.chance(0.8) ? choice.between(0, 60) : choice.between(60, 2_500));
          const value = choice.chance(0.2) ? undefined : `value of ${op}`;
          recorder.add({ what: 'done', op, ...(value && { value }) });
          if (value === undefined) throw new Error(`error of ${op}`);
          return value;
        },
        { wait, signal: controller.signal },
      );
      const { value, ran, kept, token } = result;
      recorder.add({ what: 'had', op, key, value, ran, kept, token });
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      recorder.add({ what: 'missed', op, error: code ?? message });
    }
  }
}
