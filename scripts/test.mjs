// What `npm test` starts. The rest is TypeScript, which an older Node cannot read: then the Node of the project takes over.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const node = fileURLToPath(new URL('node_modules/.bin/node', root));

if (!existsSync(fileURLToPath(new URL('node_modules/vitest', root)))) {
  console.error('The development packages are not installed: npm ci');
  process.exitCode = 1;
} else if (process.features.typescript) {
  const { main } = await import(new URL('test/run/main.ts', root).href);
  process.exitCode = await main(process.argv.slice(2));
} else if (existsSync(node)) {
  const { status } = spawnSync(node, process.argv.slice(1), { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  console.error(`Node ${process.version} cannot run the tests, and the project's own is not installed: npm ci`);
  process.exitCode = 1;
}
