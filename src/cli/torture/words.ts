import { visible } from '../../core/visible.ts';
import type { Progress } from '../../torture/torture.ts';
import type { FaultCount, Verdict } from '../../torture/verdict.ts';
import type { Violation } from '../../torture/violation.ts';

/** The broken promises, in words. */
const PROMISES: Readonly<Record<Violation['broken'], string>> = {
  exclusion: 'two held at once what only one may hold, or more permits were given than there are',
  tokens: 'a fencing token did not grow',
  register: 'the token let a late write through, or refused whoever held',
  starvation: 'a key was free, somebody waited, and nobody got in',
  'wake-ups': 'nobody woke who waited',
  residue: 'a hold outlived its lease and its process',
  crash: 'a process ended by itself',
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
    `${count(totals.holds)} holds`,
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
    `  ${count(totals.holds)} holds of ${count(totals.wishes)} wishes, ${count(totals.underFaults)} of them under faults, in ${seconds(verdict.ran)}`,
    `  ${count(effective)} faults that hit something: ${listed(faults)}`,
    `  ${count(overslept)} holders were stopped until their leases were over`,
    `  ${count(staleWrites)} writes came from a holder whom another had followed; the token refused ${count(staleRefused)} of them`,
    `  longest wait ${seconds(totals.longestWait)}; where nothing was wrong, ${count(totals.handOvers)} free keys found their next holder within ${Math.ceil(totals.longestHandOver)} ms`,
    ...notes.map((note) => `  note: ${note}`),
    '',
    `Again: ${again}`,
  ];
}

function headline({ outcome, ended, engine, broken, violations, missing }: Verdict): string[] {
  const so = {
    time: '',
    broken: '',
    interrupted: ' It was interrupted.',
    'server gone': ' The server went away, and did not come back.',
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
  return [`Kept on ${engine}: every promise that was looked at, under every fault.${so}`];
}

const listed = (faults: Readonly<Record<string, FaultCount>>): string =>
  Object.entries(faults)
    .map(([kind, { effective, done }]) => `${kind} ${effective} of ${done}`)
    .join(', ') || 'none';
