import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('the generated SQL modules are what the .sql files say', () => {
  const build = fileURLToPath(new URL('../../../scripts/build-sql.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [build, '--check'], { stdio: 'pipe' })).not.toThrow();
});
