import { mkdirSync } from 'node:fs';
import { serverCache } from '../kit/server-cache.ts';
import { fetchFromDebian } from './debian.ts';
import { SERVERS } from './servers.ts';

/** `npm run matrix`, or `npm run matrix -- mysql`: fetches servers into the cache, where the test kit finds them. */
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !SERVERS.some(({ server }) => server === name));
if (unknown.length > 0) {
  console.error(`no server ${unknown.join(', ')}; there are ${SERVERS.map(({ server }) => server).join(', ')}`);
  process.exitCode = 64;
} else {
  const cache = serverCache();
  mkdirSync(cache, { recursive: true });
  for (const row of SERVERS) {
    if (asked.length > 0 && !asked.includes(row.server)) continue;
    try {
      console.log(`${row.server}: ${fetchFromDebian(row, cache)}`);
    } catch (error) {
      const { stderr, message } = error as { stderr?: string; message: string };
      console.error(`!! ${row.server} could not be had from Debian ${row.suite}: ${stderr || message}`);
      process.exitCode = 1;
    }
  }
}
