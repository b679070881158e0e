import { counted } from '../../core/index.ts';
import type { Danger } from '../shared/danger.ts';
import type { RedisNode } from './port.ts';
import { fieldsOf, settingsOf, whyUnsupported } from './server-info.ts';

/** The fields of INFO; the settings of CONFIG GET, if the user may ask for them; and the number of replicas that each grant waits for. */
interface ServerFacts {
  readonly info: ReadonlyMap<string, string>;
  readonly config: ReadonlyMap<string, string>;
  readonly acknowledge: number;
}

const SETTINGS = ['save', 'appendfsync', 'min-replicas-to-write', 'min-replicas-max-lag'];

export async function factsOf(node: RedisNode, acknowledge: number): Promise<ServerFacts> {
  const info = fieldsOf(String(await node.command('INFO')));
  const config = new Map<string, string>();
  for (const name of SETTINGS) {
    // Most users have no right to CONFIG, and most hosted servers refuse it. Then the findings say less.
    const reply = await node.command('CONFIG', 'GET', name).catch(() => undefined);
    for (const [setting, value] of settingsOf(reply)) config.set(setting, value);
  }
  return { info, config, acknowledge };
}

/** The default of `min-replicas-max-lag`. */
const MAX_LAG_SECONDS = 10;

export const TOO_FEW_REPLICAS = 'too-few-replicas';

const versionOf = ({ info }: ServerFacts): string => info.get('redis_version') ?? '0';
const isOld = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 6 || (major === 6 && minor < 2);
};
const infoNumber = ({ info }: ServerFacts, name: string): number => Number(info.get(name) ?? 0);
const setting = ({ config }: ServerFacts, name: string): number => Number(config.get(name) ?? 0);
const evictionOf = ({ info }: ServerFacts): string => info.get('maxmemory_policy') ?? 'noeviction';
const usedMemory = (facts: ServerFacts): number =>
  infoNumber(facts, 'maxmemory') > 0 ? infoNumber(facts, 'used_memory') / infoNumber(facts, 'maxmemory') : 0;
const evicts = {
  code: 'eviction-policy',
  advice: 'set maxmemory-policy noeviction, or keep locks on a server of their own',
};
const evictionMessage = (facts: ServerFacts, server: string): string =>
  `maxmemory-policy is ${evictionOf(facts)}: ${server} evicts locks that are held, and a second holder gets in`;

/** What endangers locks, each with the fact that shows it. */
export const DANGERS: readonly Danger<ServerFacts>[] = [
  {
    severity: 'danger',
    code: 'unsupported',
    message: ({ info }) =>
      `this is ${whyUnsupported(info)}: locks were never tried there, and every attempt is refused`,
    advice: 'use Redis 6.2 or newer, or Valkey',
    when: ({ info }) => whyUnsupported(info) !== undefined,
  },
  {
    severity: 'danger',
    code: 'version',
    message: (facts) => `Redis ${versionOf(facts)} is older than 6.2`,
    advice: 'use Redis 6.2 or newer, or Valkey',
    when: (facts) => !facts.info.has('valkey_version') && isOld(versionOf(facts)),
  },
  {
    severity: 'danger',
    code: 'replica',
    message: 'this server is a replica: it takes no locks',
    advice: 'connect to its primary',
    when: ({ info }) => info.get('role') === 'slave',
  },
  {
    ...evicts,
    severity: 'danger',
    message: (facts) => evictionMessage(facts, 'a server that is full'),
    when: (facts) => evictionOf(facts) !== 'noeviction' && infoNumber(facts, 'maxmemory') > 0,
  },
  {
    ...evicts,
    severity: 'warning',
    message: (facts) => evictionMessage(facts, 'with a maxmemory it'),
    when: (facts) => evictionOf(facts) !== 'noeviction' && !(infoNumber(facts, 'maxmemory') > 0),
  },
  {
    severity: 'warning',
    code: 'memory',
    message: (facts) =>
      `${Math.round(usedMemory(facts) * 100)} % of maxmemory is used: a full server refuses new locks`,
    advice: 'raise maxmemory or free memory; holds can still be renewed and released',
    when: (facts) => usedMemory(facts) > 0.9,
  },
  {
    severity: 'warning',
    code: 'no-persistence',
    message: ({ config }) =>
      config.get('save') === ''
        ? 'nothing is persisted: a restart frees every lock, while its holder still works'
        : 'there is no append-only file: a restart frees the locks taken since the last snapshot',
    advice: 'set appendonly yes; appendfsync always to survive a power failure; guard resources with fencing tokens',
    when: ({ info }) => info.get('aof_enabled') === '0',
  },
  {
    severity: 'info',
    code: 'appendfsync',
    message: ({ config }) =>
      `appendfsync is ${config.get('appendfsync')}: a power failure may free the locks of the last second or more`,
    advice: 'set appendfsync always where that matters; guard resources with fencing tokens',
    when: ({ info, config }) => info.get('aof_enabled') === '1' && (config.get('appendfsync') ?? 'always') !== 'always',
  },
  {
    severity: 'warning',
    code: 'replicas',
    message: 'replication is asynchronous: a fail-over may lose a lock, and an old primary goes on granting',
    advice:
      'set min-replicas-to-write 1 and min-replicas-max-lag to a few seconds; guard resources with fencing tokens',
    when: (facts) =>
      infoNumber(facts, 'connected_slaves') > 0 &&
      !facts.info.has('min_slaves_good_slaves') &&
      !(setting(facts, 'min-replicas-to-write') > 0),
  },
  {
    severity: 'danger',
    code: TOO_FEW_REPLICAS,
    message: (facts) => {
      const connected = infoNumber(facts, 'connected_slaves');
      return `each grant waits for ${counted(facts.acknowledge, 'replica')}, and ${connected} of them ${connected === 1 ? 'is' : 'are'} connected: no lock can be had`;
    },
    advice: 'bring the replicas back, or ask for fewer: replicas.acknowledge',
    when: (facts) => facts.info.get('role') === 'master' && infoNumber(facts, 'connected_slaves') < facts.acknowledge,
  },
  {
    severity: 'warning',
    code: 'replica-lag',
    message: (facts) => {
      const lag = setting(facts, 'min-replicas-max-lag');
      return `min-replicas-max-lag is ${lag}: a primary that is cut off from its replicas goes on granting ${lag === 0 ? 'for good' : `for ${lag} s`}`;
    },
    advice: `set min-replicas-max-lag to a few seconds, at most ${MAX_LAG_SECONDS}`,
    when: (facts) => {
      const lag = setting(facts, 'min-replicas-max-lag');
      return setting(facts, 'min-replicas-to-write') > 0 && (lag === 0 || lag > MAX_LAG_SECONDS);
    },
  },
];
