import type { Happening } from '../rush/happening.ts';
import type { Noted } from './record.ts';

/** Nobody has tapped yet, for a moment. ms. */
const BEFORE = 5;

/** One story of what several processes noted: in the order of their times, the first one a moment after 0. @param notes of each process */
export function timeline(notes: readonly (readonly Happening[])[]): Noted[] {
  const all = notes.flatMap((each, process) => each.map((happening) => ({ ...happening, process })));
  all.sort((a, b) => a.at - b.at);
  const zero = (all[0]?.at ?? 0) - BEFORE;
  return all.map((each) => ({ ...each, at: Math.round((each.at - zero) * 1_000) / 1_000 }));
}
