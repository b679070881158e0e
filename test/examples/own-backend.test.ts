import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { rows } from '../../examples/own-backend/rows.ts';
import { describeConformance } from '../kit/suite.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const db = new DatabaseSync(':memory:');
afterAll(() => db.close());
describeConformance({ name: 'the backend of the guide', open: async () => rows(db) });

test('the guide shows the files that are run here, as a reader would import them', () => {
  const guide = read('docs/guides/your-own-engine.md');
  for (const file of ['rows.ts', 'rows.test.ts']) {
    const shown = read(`examples/own-backend/${file}`)
      .replace("'../../src/index.ts'", "'holdfast'")
      .replace("'../../src/backend.ts'", "'holdfast/backend'")
      .replace("'../../products/testing/index.ts'", "'holdfast/testing'");
    expect(guide).toContain(`\`\`\`ts\n${shown}\`\`\``);
  }
});

test('under node:test it conforms too', { timeout: 90_000 }, async () => {
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-reporter=tap',
    'examples/own-backend/rows.test.ts',
  ];
  const options = { cwd: fileURLToPath(root), env: { ...process.env, NODE_OPTIONS: '' }, timeout: 80_000 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options); // rejects when one fails
  expect(Number(/^# pass (\d+)/m.exec(stdout)?.[1]), stdout).toBeGreaterThan(50);
  expect(stdout).toContain('# fail 0');
});
