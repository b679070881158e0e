import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { find, type MissingProgram, NEEDS, type Parts } from '../kit/programs.ts';
import { serverCache } from '../kit/server-cache.ts';

/** Asked by Debian's packages before they start a service: 101 forbids it. */
const POLICY = { path: '/usr/sbin/policy-rc.d', text: '#!/bin/sh\nexit 101\n', mode: 0o755 };
/** Read by PostgreSQL's package before it makes a database of its own. */
const CLUSTER = {
  path: '/etc/postgresql-common/createcluster.conf',
  text: 'create_main_cluster = false\n',
  mode: 0o644,
};

/** ms for one call of apt-get, which waits for others of its kind. */
const PATIENCE = 15 * 60_000;

/** Installs what is missing: private packages and Go modules anywhere, programs on Debian as root. What stays missing is for the summary to tell. */
export function install(absent: readonly MissingProgram[]): void {
  for (const { need } of absent) {
    const { folder, module }: Parts = NEEDS[need];
    if (folder) ran('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund']);
    if (module && find('go')) ran('go', ['build', '-C', module, '-o', 'bin/', '.']);
  }
  const packages = [...new Set(absent.flatMap(({ need }) => NEEDS[need].packages))];
  if (packages.length === 0) return;
  installPackages(absent, packages);
  for (const { need } of absent) {
    const { pypi }: Parts = NEEDS[need];
    if (pypi) intoEnvironment(pypi);
  }
}

function installPackages(absent: readonly MissingProgram[], packages: readonly string[]): void {
  for (const { message } of absent) console.log(`Missing: ${message}`);
  if (process.getuid?.() !== 0 || !find('apt-get')) {
    console.log('Not installed from here: that takes root, on Debian.');
    return;
  }
  console.log(`Installing ${packages.join(' ')}; no service is started.`);
  const ours = [POLICY, CLUSTER].filter(({ path }) => !existsSync(path));
  for (const { path, text, mode } of ours) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
  }
  try {
    // Options first: a configuration file that is there already is kept, not asked about.
    const quiet = ['-q', '-o', 'Dpkg::Options::=--force-confold', '-o', 'DPkg::Lock::Timeout=300'];
    if (apt(...quiet, 'update')) apt(...quiet, 'install', '-y', '--no-install-recommends', ...packages);
  } finally {
    if (ours.includes(POLICY)) rmSync(POLICY.path, { force: true });
  }
}

function apt(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, error } = spawnSync('apt-get', args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
    timeout: PATIENCE,
  });
  if (status !== 0) console.log(`apt-get ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}`);
  return status === 0;
}

/** Where it fails, the summary tells that the program is missing. */
function intoEnvironment({ name, version, extras }: NonNullable<Parts['pypi']>): void {
  const folder = join(serverCache(), `${name}-${version}`);
  mkdirSync(dirname(folder), { recursive: true });
  const done =
    ran('python3', ['-m', 'venv', folder]) &&
    ran(join(folder, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `${name}${extras ? `[${extras}]` : ''}==${version}`,
    ]);
  if (!done) rmSync(folder, { recursive: true, force: true });
}

function ran(command: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], timeout: PATIENCE });
  if (status !== 0) console.log(`${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}`);
  return status === 0;
}
