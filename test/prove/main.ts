/**
 * `npm run prove [-- --for 2h] [--only part…] [--again] [--folder .prove] [--seed 1]`: everything that shows whether the promises are
 * kept, for as long as it is told, and docs/evidence.md from what came of it. A part that has ended is not run again, unless `--again`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { durationOf } from './duration.ts';
import { evidence } from './evidence.ts';
import { parts } from './parts.ts';
import type { Result } from './result.ts';

const root = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: {
    for: { type: 'string', default: '2h' },
    only: { type: 'string', multiple: true },
    again: { type: 'boolean', default: false },
    folder: { type: 'string', default: '.prove' },
    seed: { type: 'string', default: '1' },
  },
});
const folder = join(root, values.folder);
mkdirSync(folder, { recursive: true });
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const commit = git('rev-parse', '--short', 'HEAD');
const total = durationOf(values.for);

const fileOf = (part: string): string => join(folder, `${part.replaceAll(' ', '-')}.json`);
const known = (part: string): Result | undefined =>
  existsSync(fileOf(part)) ? (JSON.parse(readFileSync(fileOf(part), 'utf8')) as Result) : undefined;

async function run(part: string, args: readonly string[]): Promise<Result> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd: root });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      printed += data;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  const all = printed.split('\n');
  const lines = all.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as unknown);
  const rest = all
    .filter((line) => !line.startsWith('{'))
    .slice(-12)
    .join('\n');
  const seconds = Math.round((performance.now() - began) / 1_000);
  return { part, commit, date: new Date().toISOString(), seconds, code, lines, printed: rest };
}

const all = parts(Number(values.seed));
for (const { name, share, least = 5, args } of all) {
  if (values.only && !values.only.some((part) => name.includes(part))) continue;
  if (!values.again && known(name)) {
    console.log(`${name}: done before`);
    continue;
  }
  const result = await run(name, args(Math.max(least, Math.round(total * share))));
  writeFileSync(fileOf(name), `${JSON.stringify(result, undefined, 2)}\n`);
  console.log(`${name}: ${result.code === 0 ? 'right' : `ended with ${result.code}`}, ${result.seconds} s`);
  if (result.code !== 0 && !name.startsWith('rival')) process.exitCode = 1;
}
const results = all.map(({ name }) => [name, known(name)] as const);
writeFileSync(join(root, 'docs', 'evidence.md'), evidence(results));
