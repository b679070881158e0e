import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultKind } from '../../products/torture/events.ts';
import { type Progress, torture } from '../../products/torture/torture.ts';
import type { Verdict } from '../../products/torture/verdict.ts';
import { urlOfFile } from '../../src/connect/url.ts';
import { jarsOfRedisson, VERSIONS } from '../backends/redisson/peer.ts';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { argumentsOf } from '../kit/java.ts';
import { missing, program } from '../kit/programs.ts';
import { packagesOf } from '../kit/project.ts';
import { startRedis } from '../kit/redis.ts';
import { JAVA_RIVALS, type On, RIVALS } from './rivals.ts';

export const OURS = 'holdfast';
const REDISSON = VERSIONS.at(-1)!;
const WORKER = new URL('rival.worker.ts', import.meta.url);

/** Libraries that are no packages of the repository. */
const PACKAGES = join(import.meta.dirname, '../backends/redis-plain/peers/lock-libraries');

const STARTS = { redis: startRedis, etcd: startEtcd } as const;

export interface RivalPlan {
  readonly name: string;
  readonly on: On;
  /** ms */
  readonly duration: number;
  readonly seed: number;
  readonly faults?: readonly FaultKind[];
  /** Ends it early. */
  readonly enough?: (so: Progress) => boolean;
}

/** A library under the same processes, connections, faults and referee; ours too, for comparison. */
export async function tortureRival({ name, on, enough, ...plan }: RivalPlan): Promise<Verdict> {
  using folder = temporaryFolder();
  await using server = on === 'file' ? undefined : await STARTS[on]();
  const url = server?.url ?? urlOfFile(join(folder.path, 'locks.db'));
  const end = new AbortController();
  const packages = await packagesOf(PACKAGES);
  Object.assign(process.env, { RIVAL: name, ...(packages && { RIVAL_PACKAGES: packages }) });
  const command = name in JAVA_RIVALS ? await commandOf(JAVA_RIVALS[name]!) : undefined;
  return await torture({
    ...{ ...plan, url, processes: 4, others: true, signal: end.signal, command },
    progress: (so) => enough?.(so) && end.abort(),
    ...(name !== OURS && { worker: WORKER }),
  });
}

/** The fourth descriptor is the channel to the referee. */
async function commandOf(lock: string): Promise<string[]> {
  const jars = await jarsOfRedisson(REDISSON);
  if (!jars) throw new Error(`Redisson ${REDISSON} is not here`);
  const args = await argumentsOf(new URL('RedissonWorker.java', import.meta.url), jars, lock);
  const words = [program('maven', 'java'), '-Xmx128m', ...args].map((word) => `'${word}'`);
  return ['/bin/sh', '-c', `exec ${words.join(' ')} <&3 >&3 3>&-`];
}

export const everyone = (): [string, On][] => [
  [OURS, 'redis'],
  [OURS, 'file'],
  [OURS, 'etcd'],
  ...Object.entries(RIVALS).map(([name, { on }]): [string, On] => [name, on]),
  ...Object.keys(missing('maven') ? {} : JAVA_RIVALS).map((name): [string, On] => [name, 'redis']),
];

/** The version of a library that is tortured here. */
export async function versionOf(name: string): Promise<string> {
  if (name in JAVA_RIVALS) return REDISSON;
  const root = join(import.meta.dirname, '../..');
  const homes =
    name === OURS
      ? [root]
      : [join(root, 'node_modules', name), join((await packagesOf(PACKAGES)) ?? '', 'node_modules', name)];
  for (const home of homes) {
    const file = join(home, 'package.json');
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version.replace(/^v/, '');
  }
  return 'unknown';
}
