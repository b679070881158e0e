import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serverCache } from './server-cache.ts';

/**
 * A folder that `build` has filled from these files. It is made at the first use, beside the servers that were fetched, and again when one of the
 * files has changed. Undefined where that fails, since a registry may not answer: that is told.
 * @param needed it is an error then, as on CI by default
 */
export async function builtOnce(
  name: string,
  files: readonly string[],
  build: (folder: string) => Promise<unknown>,
  needed: boolean = process.env.CI === 'true',
): Promise<string | undefined> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  const all = join(dirname(serverCache()), 'projects');
  const home = join(all, `${name}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(home)) return home;
  mkdirSync(all, { recursive: true });
  const begun = mkdtempSync(join(all, 'begun-'));
  try {
    await build(begun);
    renameSync(begun, home);
  } catch (error) {
    rmSync(begun, { recursive: true, force: true, maxRetries: 3 });
    if (existsSync(home)) return home; // another process was first
    const told = `${name} could not be installed, so its tests did not run: ${(error as Error).message}`;
    if (needed) throw new Error(told);
    console.error(`\n!!! ${told}\n`);
    return undefined;
  }
  return home;
}
