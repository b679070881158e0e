import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const backends = new URL('../../../src/backends/', import.meta.url).pathname;
/** Lines with code: neither blank ones nor those of a comment alone count. */
const linesOf = (path: string): number =>
  readFileSync(backends + path, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;

test('the engine over registers has at most 810 lines, without the proof of a store', () => {
  const files = globSync('register/*.ts', { cwd: backends }).filter((path) => !path.endsWith('proof.ts'));
  const all = files.map(linesOf).reduce((sum, lines) => sum + lines, 0);
  expect(all, files.join()).toBeGreaterThan(300);
  expect(all).toBeLessThanOrEqual(810);
});

test.each([
  ['s3', 90],
  ['dynamodb', 100],
  ['nats', 155],
])('the engine on %s has at most %i lines beside the register, with what it knows of its client', (name, most) => {
  const files = globSync(`${name}/*.ts`, { cwd: backends });
  expect(files.length).toBeGreaterThan(0);
  expect(files.map(linesOf).reduce((sum, lines) => sum + lines, 0)).toBeLessThanOrEqual(most);
});
