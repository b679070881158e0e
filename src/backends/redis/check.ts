import { type Clock, counted, type Finding, leastOf, mostOf } from '../../core/index.ts';
import { type Danger, findingsOf } from '../shared/danger.ts';
import type { Node, Port } from './port.ts';
import { fieldsOf, settingsOf, whyUnsupported } from './server.ts';

/** The facts that a server tells about itself: the fields of INFO, and the settings of CONFIG GET if the user may ask for them. */
export interface ServerFacts {
  readonly info: ReadonlyMap<string, string>;
  readonly config: ReadonlyMap<string, string>;
  /** How many replicas each grant waits for. */
  readonly acknowledge: number;
}

const SETTINGS = ['save', 'appendfsync', 'min-replicas-to-write', 'min-replicas-max-lag'];

async function factsOf(node: Node, acknowledge: number): Promise<ServerFacts> {
  const info = fieldsOf(String(await node.command('INFO')));
  const config = new Map<string, string>();
  for (const name of SETTINGS) {
    // Most users and most hosted servers do not allow this. Then the findings say less.
    const reply = await node.command('CONFIG', 'GET', name).catch(() => undefined);
    for (const [setting, value] of settingsOf(reply)) config.set(setting, value);
  }
  return { info, config, acknowledge };
}

/** The server's own default. */
const MAX_LAG_SECONDS = 10;

const TOO_FEW_REPLICAS = 'too-few-replicas';

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
const DANGERS: readonly Danger<ServerFacts>[] = [
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

const GRANT_INFO = 'grant +info, and +config|get where the server knows that, to a user that runs the check';
const ANSWERS = 'check again when the server answers';
/** The replies of a server that does not know a command, or does not let the user call it; inside a script they have no code. */
const OF_RIGHTS = /NOPERM|NOAUTH|WRONGPASS|The user executing the script can't|ACL failure in script|unknown command/i;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Looks at the settings of each server and attempts what this user may do.
 * @param trial takes and releases a lock, and listens
 * @param acknowledge how many replicas each grant waits for
 */
export async function findings(
  nodes: readonly Node[],
  trial: () => Promise<void>,
  acknowledge: number,
  clock: Clock,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const refusal = await trial().catch((error: unknown) => error ?? 'refused');
  for (const node of nodes) {
    for (const finding of await judgeNode(node, acknowledge)) {
      if (!found.some(({ code }) => code === finding.code)) found.push(finding);
    }
  }
  const readings = await Promise.all(nodes.map((node) => readingOf(node, clock).catch(() => undefined)));
  const apart = clocksApart(readings.filter((reading): reading is Reading => reading !== undefined));
  if (apart) found.push(apart);
  if (refusal === undefined || found.some(({ code }) => code === TOO_FEW_REPLICAS)) return found;
  const why = messageOf(refusal);
  const cause = OF_RIGHTS.test(why)
    ? { code: 'rights', advice: "grant the user the rights listed on the engine's page, docs/backends/redis.md" }
    : { code: 'trial', advice: `${ANSWERS}, and takes writes` };
  const message = `a lock could not be taken, released and listened for: ${why}`;
  return [{ ...cause, severity: 'danger', message }, ...found];
}

/** Makes the finding that hand-overs in a Cluster use ordinary messages, with the reason. */
export const ordinaryMessages = (why: string): Finding => ({
  severity: 'info',
  code: 'ordinary-messages',
  message: `each hand-over is told to every node of the Cluster, because sharded messages cannot be used: ${why}`,
  advice:
    'use Redis 7 or newer or Valkey, a client library that can listen to sharded messages, and grant the user +ssubscribe and +spublish',
});

async function judgeNode(node: Node, acknowledge: number): Promise<Finding[]> {
  try {
    return findingsOf(DANGERS, await factsOf(node, acknowledge));
  } catch (error) {
    const why = messageOf(error);
    const advice = OF_RIGHTS.test(why) ? GRANT_INFO : ANSWERS;
    const message = `the server did not answer INFO, so its settings are not known: ${why}`;
    return [{ severity: 'info', code: 'not-checked', message, advice }];
  }
}

/**
 * Asks the servers themselves, for people. One server is asked over a connection of our own, where the library gives one: a proxy may end a
 * connection for such a command, and ioredis would send that again, and end every later connection of the application, for ever.
 */
export async function aside<T>(port: Port, ask: (nodes: readonly Node[]) => Promise<T>): Promise<T> {
  const over = new AbortController();
  try {
    const own = port.cluster ? undefined : await port.ownConnection(0, over.signal, () => {}).catch(() => undefined);
    return await ask(own ? [{ command: (name, ...args) => own.command(name, [], ...args) }] : port.nodes());
  } finally {
    over.abort();
  }
}

/** A server's clock is ahead of ours by a time between these, ms. */
interface Reading {
  readonly least: number;
  readonly most: number;
}

/** A smaller difference does no harm to a lease. */
const HARMLESS_MS = 100;

async function readingOf(node: Node, clock: Clock): Promise<Reading> {
  const sent = clock.now();
  const [seconds, micros] = (await node.command('TIME')) as [unknown, unknown];
  const time = Number(seconds) * 1_000 + Number(micros) / 1_000;
  return { least: time - clock.now(), most: time - sent };
}

/** Finds primaries of a Cluster with different clocks: a slot that moves takes its leases and tokens to another clock. */
export function clocksApart(readings: readonly Reading[]): Finding | undefined {
  if (readings.length < 2) return undefined;
  const apart = mostOf(readings.map(({ least }) => least)) - leastOf(readings.map(({ most }) => most));
  if (apart < HARMLESS_MS) return undefined;
  return {
    severity: 'warning',
    code: 'clocks',
    message: `the clocks of two nodes are at least ${Math.round(apart)} ms apart: a lock whose slot moves expires by so much too early or too late`,
    advice: 'synchronize the clocks of all nodes (NTP) before a slot moves',
  };
}
