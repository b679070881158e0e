import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Report } from './messages.ts';
import type { Mutant } from './mutant.ts';
import { root } from './sources.ts';
import type { Worker } from './workers.ts';

/** Of one test: how long it takes, and by which mutants it comes. */
export interface Reach {
  readonly ms: number;
  readonly cpu: number;
  readonly reached: readonly number[];
  readonly failed?: string;
}
type Known = Record<string, Reach>;

const hash = (text: string): string => createHash('sha1').update(text).digest('hex');

/** @param tests `file: name` @param path where what was found out is kept; of a test whose file has changed it is found out again */
export async function reachOf(
  tests: readonly string[],
  mutants: readonly Mutant[],
  workers: readonly Worker[],
  path: string,
): Promise<readonly Reach[]> {
  const sources = hash(mutants.map(({ id }) => id).join('\n'));
  const texts = new Map<string, string>();
  const nameOf = (test: string, index: number): string => {
    const file = test.slice(0, test.indexOf(': '));
    if (!texts.has(file)) texts.set(file, hash(readFileSync(`${root}${file}`, 'utf8')));
    const twin = tests.slice(0, index).filter((each) => each === test).length;
    return `${sources} ${texts.get(file)} ${twin} ${test}`;
  };
  const names = tests.map(nameOf);
  const before: Known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Known) : {};
  const known: Known = Object.fromEntries(names.flatMap((name) => (before[name] ? [[name, before[name]]] : [])));
  const left = names.flatMap((name, index) => (known[name] ? [] : [{ name, index }]));
  if (left.length > 0) console.log(`which mutants ${left.length} tests come by…`);
  await Promise.all(
    workers.map(async (worker) => {
      for (let next = left.shift(); next; next = left.shift()) {
        const answer = await worker.ask<Extract<Report, { covered: unknown }>>({ cover: next.index }, 30_000);
        known[next.name] = answer ?? { ms: 30_000, cpu: 30_000, reached: [], failed: 'it did not end' };
      }
    }),
  );
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(known));
  return names.map((name) => known[name]!);
}
