/** The tests of each engine on each version of its servers in `servers.ts`, and over each client: `npm run prove -- matrix --help`. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagsOf } from '../kit/flags.ts';
import { serverCache } from '../kit/server-cache.ts';
import { runClients } from './clients/main.ts';
import { RESULTS, writeCompatibility } from './compatibility.ts';
import { fetched } from './fetch.ts';
import { type Launched, launchedHere } from './launched.ts';
import { isSame, type Result } from './result.ts';
import { runOn, versionsOf } from './run.ts';
import { nameOf, SERVERS, type ServerRow, SUITES, type Suite, suitesOf } from './servers.ts';
import { reasonOf } from './sources/command.ts';

const USAGE = `npm run prove -- matrix [server…] [flags]: the tests of each engine on each version of its servers, and docs/compatibility.md from a whole run
npm run prove -- matrix clients [name…] [flags]: the conformance suite over each client, with each of its settings, in each runtime
  server          as in valkey, valkey-9.1 or redis-cluster
  name            a client, a server, a runtime or a cell
  --suite <name>  this suite of the servers; may be given several times
  --page          writes the page also after a run of some, from all results that this machine has
  --again         repeats what ran already with the same sources, server, client and runtime
  --fetch         only fetches the servers
  --here          on the servers of this machine, which is a container of them: nothing is fetched
  --help          this
One after the other. What can no longer be had is a line that says so.`;

const { values, positionals } = flagsOf(USAGE, {
  allowPositionals: true,
  options: {
    suite: { type: 'string', multiple: true },
    page: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    fetch: { type: 'boolean', default: false },
    /** The servers of this machine, which is a container of them: nothing is fetched. */
    here: { type: 'boolean', default: false },
  },
});
const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** What git knows of `src`; nothing where it has changes, or where a container has no git. */
function committed(): string | undefined {
  try {
    return git('status', '--porcelain', 'src') ? undefined : git('rev-parse', '--short', 'HEAD:src');
  } catch {
    return undefined;
  }
}
const sources = committed();

const namesOf = (row: ServerRow): string[] => [
  ...[row.server, nameOf(row)],
  ...SUITES[row.server].flatMap(({ backends }) => backends.split(',')),
];

async function runCell(row: ServerRow, suite: Suite, launched: Launched): Promise<void> {
  const file = join(RESULTS, `${nameOf(row)}-${suite.name}.json`);
  const { server, source } = row;
  const setting = {
    ...{ server, version: launched.version, from: values.here ? 'container' : source.from, suite: suite.name },
    ...{ clients: versionsOf(suite.clients), runtime: `Node ${process.versions.node}`, sources },
  };
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined;
  if (before && isSame(before, setting) && !values.again) return;
  const outcome = await runOn(launched, suite);
  if (!outcome) {
    console.error(`!! ${suite.name} on ${server} ${launched.version} ended without a result`);
    process.exitCode = 1;
    return;
  }
  const result: Result = { ...setting, date: new Date().toISOString(), ...outcome };
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
  const { passed, failed, skipped } = result;
  console.log(`${server} ${launched.version}, ${suite.name}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (failed > 0) process.exitCode = 1;
}

let ended = false;
// `runOn` ends the tests; nothing comes after them.
process.once('SIGTERM', () => {
  ended = true;
});

async function runServers(names: readonly string[], cache: string): Promise<void> {
  for (const row of SERVERS) {
    if (ended) return;
    if (names.length > 0 && !namesOf(row).some((name) => names.includes(name))) continue;
    let launched: Launched;
    try {
      launched = values.here ? launchedHere(row) : fetched(row, cache);
    } catch (error) {
      console.log(`!! ${nameOf(row)} could not be had from ${row.source.from}: ${reasonOf(error)}`);
      continue;
    }
    console.log(`${nameOf(row)}: ${launched.version}, from ${row.source.from}`);
    if (values.fetch) continue;
    for (const suite of suitesOf(row)) {
      if (!ended && (values.suite?.includes(suite.name) ?? true)) await runCell(row, suite, launched);
    }
  }
}

const known = new Set(SERVERS.flatMap(namesOf));
const [first, ...rest] = positionals;
const unknown = first === 'clients' ? [] : positionals.filter((name) => !known.has(name));
if (unknown.length > 0) {
  console.error(`no server ${unknown.join(', ')}; there are ${[...known].sort().join(', ')}, and clients`);
  process.exitCode = 64;
} else {
  const cache = serverCache();
  for (const folder of [cache, RESULTS]) mkdirSync(folder, { recursive: true });
  if (first !== 'clients') await runServers(positionals, cache);
  const only = first !== 'clients' && (positionals.length > 0 || values.suite || values.fetch);
  if (!only) {
    await runClients(rest, {
      ...{ cache, results: RESULTS, sources, again: values.again },
      ended: () => ended,
    });
  }
  const whole = !only && rest.length === 0 && first !== 'clients';
  if (!ended && (whole || values.page)) writeCompatibility();
}
