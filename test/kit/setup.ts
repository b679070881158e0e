import { afterAll } from 'vitest';
import { LeakWatch } from './leaks.ts';

// Made by Node at the first use, and not a leak.
void process.stdin;
void process.stdout;
void process.stderr;

const watch = new LeakWatch();
// Hooks run last in, first out, and this one is first in: after a file's own.
afterAll(() => watch.end());
