import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const INDEX = new URL('../../src/index.ts', import.meta.url).href;
const MEMORY = new URL('../../src/backends/memory.ts', import.meta.url).href;

test('a Node.js that is too old is told so when locks are made, not when they are closed', async () => {
  const script = `
    const { createLocks } = await import('${INDEX}');
    const { memory } = await import('${MEMORY}');
    delete Promise.withResolvers; // as in Node 20
    try { createLocks(memory()); console.log('made'); } catch ({ code, message }) { console.log(code, message); }`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  expect(stdout).toMatch(/^LOCK_UNSUPPORTED holdfast needs Node\.js 22\.13 or newer; this is v/);
});
