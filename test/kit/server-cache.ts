import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Root's is where other users can read: PostgreSQL does not run as root. */
const usual = (): string => (process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache'));

/** Where `npm run prove -- matrix` keeps the servers that it fetched: a folder `<server>-<version>` each, with its programs in `bin`. */
export const serverCache = (): string => process.env.HOLDFAST_SERVERS || join(usual(), 'holdfast', 'servers');

/** The program of the newest version that was fetched. */
export function cachedProgram(server: string, program: string): string | undefined {
  const folder = serverCache();
  const versions = (existsSync(folder) ? readdirSync(folder) : []).filter((name) =>
    new RegExp(`^${server}-\\d[^-]*$`).test(name),
  );
  return versions
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((version) => join(folder, version, 'bin', program))
    .find((path) => existsSync(path));
}
