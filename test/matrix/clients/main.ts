/**
 * `npm run prove -- matrix clients [name… --again]`: the conformance suite over each client, with each of its settings, in each runtime, of
 * `rows.ts`. A name is one of a client, a server, a runtime or a cell.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetched } from '../fetch.ts';
import type { Launched } from '../launched.ts';
import { isSame, type Result } from '../result.ts';
import { nameOf, SERVERS } from '../servers.ts';
import { reasonOf } from '../sources/command.ts';
import { type ClientCell, clientCells } from './cells.ts';
import { installed, OLDEST, versionsIn } from './install.ts';
import { kitServer } from './kit-servers.ts';
import { runClient } from './run.ts';
import { runtimeOf } from './runtimes.ts';
import { type Stand, type StandingServer, startStand } from './stand.ts';

interface Ways {
  /** Where servers are. Clients and runtimes are beside them. */
  readonly cache: string;
  readonly results: string;
  readonly sources: string | undefined;
  readonly again: boolean;
  ended(): boolean;
}

const isNamed = ({ name, row, on, title, runtime }: ClientCell, names: readonly string[]): boolean =>
  names.length === 0 ||
  [name, row.client, row.title, row.program, on, title, runtime].some((own) => names.includes(own));

export async function runClients(names: readonly string[], ways: Ways): Promise<void> {
  const chosen = clientCells.filter((cell) => isNamed(cell, names));
  const cache = join(ways.cache, '..');
  const folder = installed(cache);
  // Cells of the same server, as it stands the same way, share it.
  for (const cells of Map.groupBy(chosen, ({ on, setting }) => `${on} ${setting.as ?? ''}`).values()) {
    if (ways.ended()) return;
    await runGroup(cells, folder, cache, ways);
  }
}

async function runGroup(cells: readonly ClientCell[], folder: string, cache: string, ways: Ways): Promise<void> {
  const { on, setting } = cells[0]!;
  const row = SERVERS.find((each) => nameOf(each) === on);
  let launched: Launched | undefined;
  try {
    launched = row && fetched(row, ways.cache);
  } catch (error) {
    console.log(`!! ${on} could not be had: ${reasonOf(error)}`);
    return;
  }
  const { server, version, from }: About = row
    ? { server: row.server, version: launched!.version, from: row.source.from }
    : (kitServer(on) ?? { server: 'none', version: '', from: '' });
  const about = { server, version, from };
  const due = cells.flatMap((cell) => {
    const result = settingOf(cell, about, folder, cache, ways);
    const file = join(ways.results, `${cell.name}.json`);
    const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined;
    return before && before.failed === 0 && isSame(before, result) && !ways.again ? [] : [{ cell, result, file }];
  });
  if (due.length === 0) return;
  // The kit looks for its servers in the environment.
  const env = { ...process.env };
  Object.assign(process.env, launched?.env);
  if (setting.as === 'pgbouncer') {
    const pooler = SERVERS.find((each) => each.server === 'pgbouncer')!;
    Object.assign(process.env, fetched(pooler, ways.cache).env);
  }
  const stand: Stand | undefined =
    on === 'none' ? undefined : await startStand((row?.server ?? on) as StandingServer, setting.as);
  try {
    for (const { cell, result, file } of due) {
      if (ways.ended()) return;
      const outcome = await runClient(cell, folder, runtimeOf(cell.runtime, cache), stand?.address ?? {});
      if (!outcome) {
        console.log(`!! ${cell.name} ended without a result`);
        process.exitCode = 1;
        continue;
      }
      writeFileSync(
        file,
        `${JSON.stringify({ ...result, date: new Date().toISOString(), ...outcome }, undefined, 2)}\n`,
      );
      const { passed, failed, skipped, seconds } = outcome;
      console.log(`${cell.name}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds} s`);
      if (failed > 0) process.exitCode = 1;
    }
  } finally {
    await stand?.[Symbol.asyncDispose]();
    process.env = env;
  }
}

type About = Pick<Result, 'server' | 'version' | 'from'>;

const settingOf = (
  { row, title, runtime }: ClientCell,
  about: About,
  folder: string,
  cache: string,
  { sources }: Ways,
): Omit<Result, 'date' | 'seconds' | 'passed' | 'failed' | 'skipped' | 'failures'> => ({
  ...about,
  ...{
    suite: 'conformance',
    client: row.title,
    setting: title,
    clients: versionsIn(row.oldest ? join(folder, OLDEST) : folder, row.packages),
  },
  ...{ runtime: runtimeOf(runtime, cache).title, sources },
});
