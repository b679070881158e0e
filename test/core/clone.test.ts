/** Processes that begin from one startup snapshot: what the first of them drew or measured is there in each. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';

/** What a process begun from the snapshot tells. */
interface Told {
  readonly ids: readonly string[];
  readonly word: string;
  /** ms by which the clock leaps when it looks for a sleep of the machine. */
  readonly leap: number;
  readonly held: boolean;
}

const source = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

/** It takes a lock before the snapshot, as a program does that warms up, and another one after it. */
const PROGRAM = `
  import { startupSnapshot } from 'node:v8';
  import { createLocks } from ${source('index.ts')};
  import { memory } from ${source('backends/memory.ts')};
  import { systemClock } from ${source('core/contract/clock.ts')};
  import { processName } from ${source('core/contract/origin.ts')};

  const locks = createLocks(memory());
  const drawn = [systemClock.id()];
  void locks.mutex('warm').run(() => {});
  startupSnapshot.setDeserializeMainFunction(async () => {
    const before = systemClock.now();
    const leap = systemClock.resync() - before;
    const lease = await locks.mutex('key').acquire();
    const ids = Array.from({ length: 3 }, () => systemClock.id());
    console.log(JSON.stringify({ ids, word: processName(systemClock).word, leap, held: lease.held }));
    await lease.release();
  });
`;

let clones: readonly Told[];

beforeAll(async () => {
  using folder = temporaryFolder();
  const [program, bundle, blob] = ['program.mjs', 'bundle.cjs', 'blob'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(program, PROGRAM);
  await build({
    entryPoints: [program],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  });
  const node = (...args: string[]) => promisify(execFile)(process.execPath, ['--snapshot-blob', blob, ...args]);
  await node('--build-snapshot', bundle);
  await new Promise((resolve) => setTimeout(resolve, 2_000)); // a snapshot is older than its processes
  clones = (await Promise.all([node(), node()])).map(({ stdout }) => JSON.parse(stdout));
}, 60_000);

test('draw other ids', () => {
  const ids = clones.flatMap((clone) => clone.ids);
  expect(new Set(ids).size, `of ${ids.join(', ')}`).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  const drawn = ids.map((id) => id.slice(8));
  expect(new Set(drawn).size, `of ${ids.join(', ')}, without the digits of the time`).toBe(ids.length);
});

test('have other names in the origins of their claims', () => {
  const [one, other] = clones as [Told, Told];
  expect(one.word).not.toBe(other.word);
});

test('do not take the age of the snapshot for a sleep of the machine', () => {
  for (const { leap, held } of clones) {
    expect(leap).toBeLessThan(250);
    expect(held).toBe(true);
  }
});
