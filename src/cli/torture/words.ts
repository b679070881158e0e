import { counted } from '../../core/contract/errors.ts';
import { visible } from '../../core/contract/visible.ts';
import type { Progress } from '../../torture/torture.ts';
import type { FaultCount, Verdict } from '../../torture/verdict.ts';
import type { Violation } from '../../torture/violation.ts';

/** The broken promises, in words. */
const PROMISES: Readonly<Record<Violation['broken'], string>> = {
  exclusion: 'two held a key at once that only one may hold, or more permits were held than there are',
  tokens: 'a fencing token was not higher than an earlier one',
  register: 'a late write was accepted, or the write of a holder was refused',
  starvation: 'a key was free and somebody waited for it, but nobody got it',
  'wake-ups': 'waiters were not woken when a key became free',
  renewal: 'a hold was lost while the event loop was blocked, although a thread renews it',
  residue: 'a key was still held after its lease had expired and its process had ended',
  crash: 'a process ended, although nobody ended it',
};
/** So many of each kind, so that all kinds fit the first screen. */
const SHOWN = 3;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const count = (number: number): string => number.toLocaleString('en');

/** One line per second during the run. */
export function progressLine({ ran, totals, faults, broken }: Progress): string {
  const kinds = Object.entries(faults).map(([kind, { effective }]) => `${kind} ${effective}`);
  const parts = [
    `${Math.round(ran / 1_000)}s`.padStart(5),
    counted(totals.holds, 'hold'),
    `longest wait ${seconds(totals.longestWait)}`,
    kinds.length > 0 ? `faults: ${kinds.join(', ')}` : 'no faults yet',
  ];
  const wrong = Object.keys(broken);
  return `${parts.join('  ')}${wrong.length > 0 ? `  BROKEN: ${wrong.join(', ')}` : ''}`;
}

/** The verdict, for people. */
export function words(verdict: Verdict & { readonly again: string }): string[] {
  const { totals, faults, overslept, staleWrites, staleRefused, notes, again } = verdict;
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  return [
    ...headline(verdict),
    '',
    `  ${count(totals.holds)} of ${counted(totals.wishes, 'request')} got a lock, ${count(totals.underFaults)} of them under faults, in ${seconds(verdict.ran)}`,
    `  ${counted(effective, 'fault')} hit something: ${faultList(faults)}`,
    `  ${counted(overslept, 'holder was stopped for longer than its lease', 'holders were stopped for longer than their leases')}`,
    `  ${counted(staleWrites, 'write')} came late, after the next hold had begun; the fencing token refused ${count(staleRefused)} of them`,
    `  longest wait ${seconds(totals.longestWait)}; without a fault, ${counted(totals.handOvers, 'free key got its', 'free keys got their')} next holder within ${Math.ceil(totals.longestHandOver)} ms`,
    ...notes.map((note) => `  note: ${note}`),
    '',
    `To repeat: ${again}`,
  ];
}

function headline({ outcome, ended, engine, broken, violations, missing }: Verdict): string[] {
  const so = {
    time: '',
    broken: '',
    interrupted: ' It was interrupted.',
    'server gone': ' The server stopped answering, and did not come back.',
  }[ended];
  if (outcome === 'broken') {
    return [
      `BROKEN on ${engine}.${so}`,
      ...Object.entries(broken).flatMap(([kind, times]) => [
        `  ${PROMISES[kind as Violation['broken']]} (${times})`,
        ...violations
          .filter((violation) => violation.broken === kind)
          .slice(0, SHOWN)
          .map(({ message }) => `    ${visible(message)}`),
      ]),
    ];
  }
  if (outcome === 'nothing')
    return [`This proves nothing about ${engine}.${so}`, ...missing.map((what) => `  only ${what}`)];
  return [`Kept on ${engine}: no promise was broken under these faults.${so}`];
}

const faultList = (faults: Readonly<Record<string, FaultCount>>): string =>
  Object.entries(faults)
    .map(([kind, { effective, done }]) => `${kind} ${effective} of ${done}`)
    .join(', ') || 'none';
