import { spawnSync } from 'node:child_process';
import type { Event } from '../../products/torture/events.ts';
import { History } from '../../products/torture/history.ts';
import { judge } from '../../products/torture/judge.ts';
import type { Verdict } from '../../products/torture/verdict.ts';
import { missing, program } from '../kit/programs.ts';
import { stepsOf } from './steps.ts';

/** `possible`: a lock could have answered so. `unknown`: found out neither way in time. */
export type Opinion = 'possible' | 'impossible' | 'unknown' | 'empty';

/** The promises that both judges look at. Waiting, wake-ups and crashes are no matter of order. */
const JUDGED: ReadonlySet<string> = new Set(['exclusion', 'tokens', 'register']);

function historyOf(events: readonly Event[]): History {
  const history = new History();
  for (const event of events.toSorted((a, b) => a.at - b.at)) history.apply(event);
  return history;
}

/** What Porcupine says of each of the histories. */
export function opinions(histories: readonly (readonly Event[])[]): Opinion[] {
  const input = histories.map((events) => `${JSON.stringify(stepsOf(historyOf(events)))}\n`).join('');
  const { status, stdout, stderr } = spawnSync(program('porcupine', 'test/porcupine/bin/lockjudge'), {
    ...{ input, encoding: 'utf8', maxBuffer: 2 ** 30 },
  });
  if (status !== 0) throw new Error(`the judge in Go ended with exit code ${status}: ${stderr}`);
  return stdout.trim().split('\n') as Opinion[];
}

/** What our own judge says of a history, as an opinion. */
export function ourOpinion(events: readonly Event[]): Opinion {
  const history = historyOf(events);
  if (![...history.operations.values()].some(({ hold }) => hold)) return 'empty';
  const { violations } = judge(history, { ttl: 2_000, wakes: false, roundTrip: 1 });
  return violations.some(({ broken }) => JUDGED.has(broken)) ? 'impossible' : 'possible';
}

/** What Porcupine says of a history, and whether our judge says no other. Where it found out neither way, it says nothing against ours. */
export function secondOpinion(events: readonly Event[], { broken }: Verdict): { opinion: string; agrees: boolean } {
  if (missing('porcupine')) return { opinion: 'not asked', agrees: true };
  const [opinion = 'unknown'] = opinions([events]);
  const expected = Object.keys(broken).some((promise) => JUDGED.has(promise)) ? 'impossible' : 'possible';
  return { opinion, agrees: opinion === expected || opinion === 'unknown' };
}
