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
  const home = join(dirname(serverCache()), 'projects', `${name}-${hash.digest('hex').slice(0, 12)}`);
  try {
    return await madeOnce(home, build);
  } catch (error) {
    const told = `${name} could not be installed, so its tests did not run: ${(error as Error).message}`;
    if (needed) throw new Error(told);
    console.error(`\n!!! ${told}\n`);
    return undefined;
  }
}

/** Makes a folder, unless it is there. It is complete, or not there at all, also where two processes make it. */
export async function madeOnce(folder: string, fill: (begun: string) => Promise<unknown>): Promise<string> {
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const begun = mkdtempSync(join(dirname(folder), 'begun-'));
  try {
    await fill(begun);
    renameSync(begun, folder);
  } catch (error) {
    rmSync(begun, { recursive: true, force: true, maxRetries: 3 });
    if (!existsSync(folder)) throw error; // else another process was first
  }
  return folder;
}
