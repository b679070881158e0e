import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../kit/folder.ts';
import { describeOn } from '../../kit/suite.ts';

const FILE = new URL('../../../src/backends/file/index.ts', import.meta.url);

describeOn('file', 'a process that has closed a locks file', () => {
  // Of the Node that runs this. It failed where rmSync() is written in JavaScript: in 22 and 25, not in 24.
  test('imports packages through links, as pnpm lays them out', () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, 'store'));
    mkdirSync(join(folder.path, 'node_modules'));
    writeFileSync(join(folder.path, 'store', 'index.js'), 'module.exports = "imported";');
    symlinkSync(join('..', 'store'), join(folder.path, 'node_modules', 'linked'));
    const main = join(folder.path, 'main.mjs');
    writeFileSync(
      main,
      `const { file } = await import(${JSON.stringify(FILE.href)});
       const backend = file({ path: ${JSON.stringify(join(folder.path, 'locks.db'))} });
       await backend.release({ key: 'k', id: 'nobody' }); // opens it
       await backend.close();
       console.log((await import('linked')).default);`,
    );
    expect(execFileSync(process.execPath, [main], { encoding: 'utf8', stdio: 'pipe' })).toBe('imported\n');
  });
});

test('a runtime without SQLite is told what is needed', () => {
  const program = `const { file } = await import(${JSON.stringify(FILE.href)});
    try { file({ path: 'locks.db' }); } catch ({ code, message }) { console.log(code, message); }`;
  const args = ['--no-experimental-sqlite', '--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: 'pipe' })).toMatch(
    /^LOCK_UNSUPPORTED file\(\) needs node:sqlite, which this runtime does not have: use Node\.js 22\.13 or newer/,
  );
});
