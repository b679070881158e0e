import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Before the tests: the modules that are made of Lua and SQL are those of the sources as they are now. */
export default function makeModules(): void {
  for (const name of ['build-lua', 'build-sql'])
    execFileSync(process.execPath, [fileURLToPath(new URL(`../../scripts/${name}.mjs`, import.meta.url))]);
}
