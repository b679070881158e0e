import type { Finding } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { counted } from '../../core/contract/errors.ts';
import { clocksApart, type Reading, readingOf } from './clocks.ts';
import type { Node, Port } from './port.ts';
import { fieldsOf, whyUnsupported } from './server-kind.ts';

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
    // Clients give different shapes to what the server sends as a map.
    const [value] =
      reply instanceof Map ? reply.values() : Array.isArray(reply) ? [reply[1]] : Object.values(reply ?? {});
    if (value !== undefined) config.set(name, `${value}`);
  }
  return { info, config, acknowledge };
}

/** The server's own default, in seconds. */
const LONG_LAG = 10;

const TOO_FEW_REPLICAS = 'too-few-replicas';

type Judgement = (facts: ServerFacts) => Finding | false;

/** The dangers to locks, each with the fact that shows it. */
const JUDGEMENTS: readonly Judgement[] = [
  ({ info }) => {
    const server = whyUnsupported(info);
    return (
      server !== undefined && {
        severity: 'danger',
        code: 'unsupported',
        message: `this is ${server}: locks were never tried there, and every attempt is refused`,
        advice: 'use Redis 6.2 or newer, or Valkey',
      }
    );
  },
  ({ info }) => {
    const version = info.get('redis_version') ?? '0';
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const old = !info.has('valkey_version') && (major < 6 || (major === 6 && minor < 2));
    return (
      old && {
        severity: 'danger',
        code: 'version',
        message: `Redis ${version} is older than 6.2`,
        advice: 'use Redis 6.2 or newer, or Valkey',
      }
    );
  },
  ({ info }) =>
    info.get('role') === 'slave' && {
      severity: 'danger',
      code: 'replica',
      message: 'this server is a replica: it takes no locks',
      advice: 'connect to its primary',
    },
  ({ info }) => {
    const policy = info.get('maxmemory_policy') ?? 'noeviction';
    const limited = Number(info.get('maxmemory') ?? 0) > 0;
    return (
      policy !== 'noeviction' && {
        severity: limited ? 'danger' : 'warning',
        code: 'eviction-policy',
        message: `maxmemory-policy is ${policy}: ${limited ? 'a server that is full' : 'with a maxmemory it'} evicts locks that are held, and a second holder gets in`,
        advice: 'set maxmemory-policy noeviction, or keep locks on a server of their own',
      }
    );
  },
  ({ info }) => {
    const most = Number(info.get('maxmemory') ?? 0);
    const used = Number(info.get('used_memory') ?? 0);
    return (
      most > 0 &&
      used > most * 0.9 && {
        severity: 'warning',
        code: 'memory',
        message: `${Math.round((used / most) * 100)} % of maxmemory is used: a full server refuses new locks`,
        advice: 'raise maxmemory or free memory; holds can still be renewed and released',
      }
    );
  },
  ({ info, config }) =>
    info.get('aof_enabled') === '0' && {
      severity: 'warning',
      code: 'no-persistence',
      message:
        config.get('save') === ''
          ? 'nothing is persisted: a restart frees every lock, while its holder still works'
          : 'there is no append-only file: a restart frees the locks taken since the last snapshot',
      advice: 'set appendonly yes; appendfsync always to survive a power failure; guard resources with fencing tokens',
    },
  ({ info, config }) =>
    info.get('aof_enabled') === '1' &&
    config.has('appendfsync') &&
    config.get('appendfsync') !== 'always' && {
      severity: 'info',
      code: 'appendfsync',
      message: `appendfsync is ${config.get('appendfsync')}: a power failure may free the locks of the last second or more`,
      advice: 'set appendfsync always where that matters; guard resources with fencing tokens',
    },
  ({ info, config }) => {
    const guarded = info.has('min_slaves_good_slaves') || Number(config.get('min-replicas-to-write') ?? 0) > 0;
    return (
      Number(info.get('connected_slaves') ?? 0) > 0 &&
      !guarded && {
        severity: 'warning',
        code: 'replicas',
        message: 'replication is asynchronous: a fail-over may lose a lock, and an old primary goes on granting',
        advice:
          'set min-replicas-to-write 1 and min-replicas-max-lag to a few seconds; guard resources with fencing tokens',
      }
    );
  },
  ({ info, acknowledge }) => {
    const connected = Number(info.get('connected_slaves') ?? 0);
    return (
      info.get('role') === 'master' &&
      connected < acknowledge && {
        severity: 'danger',
        code: TOO_FEW_REPLICAS,
        message: `each grant waits for ${counted(acknowledge, 'replica')}, and ${connected} of them ${connected === 1 ? 'is' : 'are'} connected: no lock can be had`,
        advice: 'bring the replicas back, or ask for fewer: replicas.acknowledge',
      }
    );
  },
  ({ config }) => {
    const lag = Number(config.get('min-replicas-max-lag') ?? 0);
    return (
      Number(config.get('min-replicas-to-write') ?? 0) > 0 &&
      (lag === 0 || lag > LONG_LAG) && {
        severity: 'warning',
        code: 'replica-lag',
        message: `min-replicas-max-lag is ${lag}: a primary that is cut off from its replicas goes on granting ${lag === 0 ? 'for good' : `for ${lag} s`}`,
        advice: `set min-replicas-max-lag to a few seconds, at most ${LONG_LAG}`,
      }
    );
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
  const tried = {
    severity: 'danger',
    message: `a lock could not be taken, released and listened for: ${why}`,
  } as const;
  const rights = "grant the user the rights listed on the engine's page, docs/backends/redis.md";
  return [
    OF_RIGHTS.test(why)
      ? { ...tried, code: 'rights', advice: rights }
      : { ...tried, code: 'trial', advice: `${ANSWERS}, and takes writes` },
    ...found,
  ];
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
    const facts = await factsOf(node, acknowledge);
    return JUDGEMENTS.map((judge) => judge(facts)).filter((finding) => finding !== false);
  } catch (error) {
    const why = messageOf(error);
    return [
      {
        severity: 'info',
        code: 'not-checked',
        message: `the server did not answer INFO, so its settings are not known: ${why}`,
        advice: OF_RIGHTS.test(why) ? GRANT_INFO : ANSWERS,
      },
    ];
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
