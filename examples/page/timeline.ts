import type { Happening } from '../rush/happening.ts';
import type { Noted } from './record.ts';

/** One story of what several processes noted: in the order of their times, from 0. @param notes of each process */
export function timeline(notes: readonly (readonly Happening[])[]): Noted[] {
  const all = notes.flatMap((each, process) => each.map((happening) => ({ ...happening, process })));
  all.sort((a, b) => a.at - b.at);
  const first = all[0]?.at ?? 0;
  return all.map((each) => ({ ...each, at: Math.round((each.at - first) * 1_000) / 1_000 }));
}
