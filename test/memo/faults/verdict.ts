import { all } from '../../simulation/events.ts';
import { MEMO_CHECKERS } from '../../simulation/memo/checkers.ts';
import type { Round } from './round.ts';

const { exclusion, tokens, values, oneResult, endings } = MEMO_CHECKERS;

/** A waiter that is told nothing asks again by then, ms. */
const POLL = 2_000;
/** etcd and ZooKeeper count a lease in steps of theirs. ms */
const TICK = 1_000;

/** What is there in the end is what the callers were told is kept, it is of its run, and nobody began after it. */
function kept({ history, left }: Round): string[] {
  const told = all(history, 'had').filter((had) => had.kept === true);
  const lost = told.filter(({ token }) => token !== left?.token);
  const begun = all(history, 'begun');
  const maker = left && begun.find(({ token }) => token === left.token);
  const made = all(history, 'done').find(({ op }) => op === maker?.op)?.value;
  return [
    ...lost.map(({ op, token }) => `${op} has a result of ${token}, and that of ${left?.token} is kept`),
    ...(left && !left.text.endsWith(` "${made}"`)
      ? [`the run of ${left.token} gave "${made}", and that is not kept`]
      : []),
    ...begun
      .filter(({ token }) => left && token > left.token)
      .map(({ op, token }) => `${op} began with ${token}, although the result of ${left!.token} was there`),
  ];
}

/** ms from when the words were there, or it asked, until each caller of a process that nothing was done to had them. */
export function waits({ history, victim, processes }: Round): number[] {
  const at = processes.find(({ leftAt }) => leftAt !== undefined)?.leftAt;
  if (at === undefined) return [];
  const asked = new Map(all(history, 'asked').map((event) => [event.op, event]));
  return all(history, 'had')
    .filter(({ op, ran }) => !ran && (asked.get(op)!.by !== victim.name || victim.struck === undefined))
    .filter(({ op }) => asked.get(op)!.at <= at)
    .map((had) => had.at - at);
}

/** ms from the fault until the next one began, or a result was had. */
function silence({ history, victim: { struck } }: Round): number | undefined {
  if (struck === undefined) return undefined;
  const next = all(history, 'begun', 'had').find(({ at }) => at > struck);
  return next && next.at - struck;
}

/** The same after a death. */
export const succession = (round: Round): number | undefined => (round.victim.crashed ? silence(round) : undefined);

function late(round: Round): string[] {
  const heard = Math.max(0, ...waits(round));
  const next = silence(round) ?? 0;
  return [
    ...(heard > POLL + round.busy ? [`a waiter had the result ${heard.toFixed(0)} ms after it was there`] : []),
    ...(next > round.ttl + TICK + POLL + round.busy ? [`nobody began for ${next.toFixed(0)} ms after the fault`] : []),
  ];
}

const CHECKERS = {
  ...Object.fromEntries(
    Object.entries({ exclusion, tokens, values, oneResult, endings }).map(([name, checker]) => [
      name,
      ({ history }: Round) => checker(history),
    ]),
  ),
  kept,
  late,
};

/** What is wrong with a round, a line each. */
export const wrongIn = (round: Round): string[] =>
  Object.entries(CHECKERS).flatMap(([name, checker]) => checker(round).map((line) => `${name}: ${line}`));
