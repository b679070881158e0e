import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const report = readFileSync(`${root}api/holdfast.txt`, 'utf8');

/** What the report declares, and what it lists as exports. */
const declared = new Set(
  [...report.matchAll(/^(?:abstract )?(?:class|interface|type) (\w+)/gm)].map(([, name]) => name!),
);
const exported = new Set([...report.matchAll(/^ {2}(?:type )?(\w+)$/gm)].map(([, name]) => name!));

/** Of the rooms of core that no user enters. */
const inside = globSync('src/core/{engine,queue}/**/*.ts', { cwd: root }).flatMap((path) =>
  [...readFileSync(`${root}${path}`, 'utf8').matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(
    ([, name]) => name!,
  ),
);
test('the published types name no part of the inside', () => {
  expect(inside.length).toBeGreaterThan(30);
  expect(inside).toEqual(expect.arrayContaining(['LockRuntime', 'Engine', 'Hold', 'QueuedClaim']));
  expect(inside.filter((name) => declared.has(name) && !exported.has(name))).toEqual([]);
});

test('no published constructor of what users do not make takes the inside of the package', () => {
  const takes = [...report.matchAll(/^ {2}constructor\((.*?)\);$/gms)].map(([, parameters]) => parameters!);
  expect(takes.length).toBeGreaterThan(0);
  expect(takes.filter((parameters) => /\b(?:LockRuntime|Candidate|Terms|Engine)\b/.test(parameters))).toEqual([]);
});
