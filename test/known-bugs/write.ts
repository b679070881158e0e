/** Writes docs/known-bugs.md from the table. */
import { writeFileSync } from 'node:fs';
import { page } from './table.ts';

writeFileSync(new URL('../../docs/known-bugs.md', import.meta.url), page());
