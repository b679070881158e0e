#!/usr/bin/env node
/**
 * `holdfast <command> …`. An older Node fails while it loads the rest, and does not say what is wrong. So this file is all that
 * an older Node has to understand.
 */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const needed: string = engines.node.replace('>=', '');

if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
  console.error(`holdfast: it needs Node.js ${needed} or newer, but runs on ${process.version}`);
  process.exitCode = 69; // the same as for an engine that is not available (exit.ts)
} else {
  await import('./line.ts');
}
