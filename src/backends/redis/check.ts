import {
  type Backend,
  type Claim,
  type Clock,
  EXCLUSIVE,
  type Finding,
  leastOf,
  mostOf,
  reasonOf,
} from '../../core/index.ts';
import { findingsOf } from '../shared/danger.ts';
import { DANGERS, factsOf, TOO_FEW_REPLICAS } from './dangers.ts';
import type { Port, RedisNode } from './port.ts';

const GRANT_INFO = 'grant +info, and +config|get where the server knows that, to a user that runs the check';
const ANSWERS = 'check again when the server answers';
/** Matches the replies of a server that does not know a command, or does not let the user call it. Inside a script these replies have no code. */
const OF_RIGHTS = /NOPERM|NOAUTH|WRONGPASS|The user executing the script can't|ACL failure in script|unknown command/i;

/** Makes the finding that hand-overs in a Cluster use ordinary messages, with the reason. */
export const ordinaryMessages = (why: string): Finding => ({
  severity: 'info',
  code: 'ordinary-messages',
  message: `each hand-over sends a message to every node of the Cluster, because sharded messages cannot be used: ${why}`,
  advice:
    'use Redis 7 or newer or Valkey, a client library that can listen to sharded messages, and grant the user +ssubscribe and +spublish',
});

async function judgeNode(node: RedisNode, acknowledge: number): Promise<Finding[]> {
  try {
    return findingsOf(DANGERS, await factsOf(node, acknowledge));
  } catch (error) {
    const why = reasonOf(error);
    const advice = OF_RIGHTS.test(why) ? GRANT_INFO : ANSWERS;
    const message = `the server did not answer INFO, so its settings are not known: ${why}`;
    return [{ severity: 'info', code: 'not-checked', message, advice }];
  }
}

/**
 * Looks at the settings of each server, and tries what this user may do.
 * @param listen listens for the messages or the changes of a claim
 * @param acknowledge how many replicas each grant waits for
 */
export function check(
  backend: Backend,
  { port, clock }: { readonly port: Port; readonly clock: Clock },
  listen: (claim: Claim) => Promise<unknown>,
  acknowledge = 0,
): Promise<Finding[]> {
  return aside(port, async (nodes) => {
    const found: Finding[] = [];
    const refusal = await tryOut(backend, clock, listen).catch((error: unknown) => error ?? 'refused');
    for (const node of nodes) {
      for (const finding of await judgeNode(node, acknowledge)) {
        if (!found.some(({ code }) => code === finding.code)) found.push(finding);
      }
    }
    const readings = await Promise.all(nodes.map((node) => readingOf(node, clock).catch(() => undefined)));
    const apart = clocksApart(readings.filter((reading): reading is Reading => reading !== undefined));
    if (apart) found.push(apart);
    if (refusal === undefined || found.some(({ code }) => code === TOO_FEW_REPLICAS)) return found;
    const why = reasonOf(refusal);
    const cause = OF_RIGHTS.test(why)
      ? { code: 'rights', advice: "grant the user the rights listed on the engine's page, docs/backends/redis.md" }
      : { code: 'trial', advice: `${ANSWERS}, and takes writes` };
    const message = `a lock could not be taken, released and listened for: ${why}`;
    return [{ ...cause, severity: 'danger', message }, ...found];
  });
}

async function tryOut(backend: Backend, clock: Clock, listen: (claim: Claim) => Promise<unknown>): Promise<void> {
  const id = clock.id();
  const claim: Claim = {
    ...{ ...EXCLUSIVE, key: `check:${id}`, id, ttl: 1_000 },
    ...{ queue: false, tokenCount: 1, within: 1_000, label: '' },
  };
  await backend.attempt(claim);
  await backend.release(claim);
  await listen(claim);
}

/**
 * Calls `ask` with the servers. Asks a single server over a connection of our own, if the library gives one: a proxy may end a connection at a
 * command such as INFO. Then ioredis would send the command again on each new connection of the application, for ever.
 */
async function aside<T>(port: Port, ask: (nodes: readonly RedisNode[]) => Promise<T>): Promise<T> {
  const over = new AbortController();
  try {
    const own = port.cluster ? undefined : await port.ownConnection(0, over.signal, () => {}).catch(() => undefined);
    return await ask(own ? [{ command: (name, ...args) => own.command(name, [], ...args) }] : port.nodes());
  } finally {
    over.abort();
  }
}

/** The least and the most by which a server's clock may be ahead of ours, ms. */
interface Reading {
  readonly least: number;
  readonly most: number;
}

/** A smaller difference of two clocks does no harm to a lease. */
const HARMLESS_MS = 100;

async function readingOf(node: RedisNode, clock: Clock): Promise<Reading> {
  const sent = clock.now();
  const [seconds, micros] = (await node.command('TIME')) as [unknown, unknown];
  const time = Number(seconds) * 1_000 + Number(micros) / 1_000;
  return { least: time - clock.now(), most: time - sent };
}

/** Finds primaries of a Cluster whose clocks differ: if a slot moves, another clock decides about its leases and tokens. */
export function clocksApart(readings: readonly Reading[]): Finding | undefined {
  if (readings.length < 2) return undefined;
  const apart = mostOf(readings.map(({ least }) => least)) - leastOf(readings.map(({ most }) => most));
  if (apart < HARMLESS_MS) return undefined;
  const message = `the clocks of two nodes are at least ${Math.round(apart)} ms apart: a lock whose slot moves expires by so much too early or too late`;
  const advice = 'synchronize the clocks of all nodes (NTP) before a slot moves';
  return { severity: 'warning', code: 'clocks', message, advice };
}
