import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { nodes } from '../architecture/rules.ts';
import { temporaryFolder } from '../kit/folder.ts';

const script = fileURLToPath(new URL('../../scripts/build-lab.mjs', import.meta.url));

test('the lab is three files that ask nobody for anything, and in which no await goes past its contexts', async () => {
  using folder = temporaryFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder.path]);
  expect(stdout).toContain(join(folder.path, 'index.html'));
  expect(readdirSync(folder.path).sort()).toEqual(['index.html', 'lab.css', 'lab.js']);
  const html = readFileSync(join(folder.path, 'index.html'), 'utf8');
  const js = readFileSync(join(folder.path, 'lab.js'), 'utf8');
  expect(html).toContain(`content="default-src 'none'; script-src 'self'; style-src 'self';`);
  expect(html).not.toMatch(/https?:/);
  const words = ['fetch(', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'import(', 'require(', '"node:'];
  expect(words.filter((word) => js.includes(word))).toEqual([]);
  // A native one would run on in no context: lab/browser/async-hooks.ts.
  const native = [...nodes(parseAst(js))].filter(({ type, async }) => type === 'AwaitExpression' || async === true);
  expect(native).toHaveLength(0);
});
