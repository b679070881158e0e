import type { EngineName } from '../../src/connect/registry.ts';
import { ENGINES } from './engines.ts';
import { missing, NEEDS, type Need } from './programs.ts';

export type Engine = EngineName;
export type Part = Engine | Need;

const isEngine = (part: string): part is Engine => Object.hasOwn(ENGINES, part);
const isNeed = (part: string): part is Need => Object.hasOwn(NEEDS, part);

/** The engines chosen by a list such as `redis,etcd`; all of them when it is empty. */
export function chosenEngines(list: string | undefined): readonly Engine[] {
  const names = (list ?? '').split(',').map((name) => name.trim().replace(/^mariadb$/, 'mysql'));
  const given = names.filter(Boolean);
  const unknown = given.filter((name) => !isEngine(name));
  if (unknown.length > 0) {
    throw new Error(`BACKENDS: no engine ${unknown.join(', ')}; there are ${Object.keys(ENGINES).join(', ')}`);
  }
  return given.length > 0 ? given.filter(isEngine) : (Object.keys(ENGINES) as Engine[]);
}

/** What has to be here for a list of engines: their servers; for all of them, also what no engine needs. */
export function neededServers(list: string | undefined): readonly Need[] {
  const engines = chosenEngines(list);
  if (engines.length === Object.keys(ENGINES).length) return Object.keys(NEEDS) as Need[];
  return [...new Set(engines.flatMap((engine) => ENGINES[engine].needs))];
}

/** Why a suite that needs these parts is left out, or undefined if it runs. */
export function whyNot(parts: Part | readonly Part[], engines: readonly Engine[]): string | undefined {
  const all = [parts].flat() as Part[];
  for (const part of all) {
    if (isEngine(part) && !engines.includes(part)) return `not in BACKENDS=${engines.join(',')}`;
    const servers: readonly Need[] = isEngine(part) ? ENGINES[part].needs : [];
    const need = isNeed(part) ? part : servers.some((server) => all.includes(server)) ? undefined : servers[0];
    const absent = need && missing(need);
    if (absent) return absent.message;
  }
  return undefined;
}
