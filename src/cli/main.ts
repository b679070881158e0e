#!/usr/bin/env node
/**
 * `holdfast <command> …`, where Node is new enough. An older one fails at the rest, as it loads, and does not say what is
 * wrong; so this is all that it has to understand.
 */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const needed: string = engines.node.replace('>=', '');

if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
  console.error(`holdfast: this needs Node.js ${needed} or newer, and is run by ${process.version}`);
  process.exitCode = 69; // as where an engine is not available (exit.ts)
} else {
  await import('./line.ts');
}
