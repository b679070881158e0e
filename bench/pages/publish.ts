import { type Figures, readFigures, writeFigures } from './figures.ts';
import { writePages } from './write.ts';

/** Writes figures into bench/figures.json, and from there into the pages. */
export function writeAll(figures: Figures): void {
  writeFigures(figures);
  writePages(figures);
  console.log('bench/figures.json and the pages have these figures');
}

/** Does so with what a command has measured that is no row of the bench. */
export function publish(row: string, entries: Readonly<Record<string, Readonly<Record<string, number>>>>): void {
  writeAll({ ...readFigures(), [row]: { date: new Date().toISOString().slice(0, 10), entries } });
}
