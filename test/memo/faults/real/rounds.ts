import { openBackend } from '../../../../src/connect/open.ts';
import { temporaryFolder } from '../../../kit/folder.ts';
import type { Site } from '../../../kit/sites.ts';
import { FAULTS } from '../process.ts';
import { type Plan, seedsOf, Tally } from '../rounds.ts';
import { RealProcess } from './process.ts';
import { playRealRound } from './round.ts';

const PROCESSES = 3;

/**
 * Plays rounds with processes of this machine. Each lane has some of its own, for one round after the other.
 * @param broken a defect of their engine, by its name
 */
export async function playRealRounds(site: Site, whole: Plan, broken = ''): Promise<Tally> {
  const { lanes, ttl = 1_000, progress } = whole;
  using compiled = temporaryFolder(); // a process that takes the place of a killed one is there sooner
  const env = { NODE_COMPILE_CACHE: compiled.path, BROKEN: broken };
  const engine = await openBackend(site.url);
  const lease = Math.max(ttl, engine.traits.ttl.min);
  const kinds = FAULTS.filter((kind) => kind !== 'cut' || site.ports.length > 0);
  const tally = new Tally();
  await (await RealProcess.start('first', site, env))[Symbol.asyncDispose]();
  const seeds = seedsOf(whole);
  const lane = async (_: unknown, number: number): Promise<void> => {
    await using stack = new AsyncDisposableStack();
    const starting = Array.from({ length: PROCESSES }, (_, i) => RealProcess.start(`p${number}.${i}`, site, env));
    const processes = (await Promise.all(starting)).map((process) => stack.use(process));
    for (let own = seeds(); own !== undefined; own = seeds()) {
      const plan = { key: `memo-kills:${own}`, seed: own, ttl: lease, kinds, blocks: site.ports.length === 0 };
      tally.add(await playRealRound(engine, processes, plan));
      progress?.(tally);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await engine.close();
  return tally;
}
