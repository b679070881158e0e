import type { Finding } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { leastOf, mostOf } from '../../core/contract/extremes.ts';
import type { Node } from './port.ts';

/** A server's clock is ahead of ours by a time between these, ms. */
export interface Reading {
  readonly least: number;
  readonly most: number;
}

/** A smaller difference does no harm to a lease. ms. */
const NOTHING = 100;

export async function readingOf(node: Node, clock: Clock): Promise<Reading> {
  const sent = clock.now();
  const [seconds, micros] = (await node.command('TIME')) as [unknown, unknown];
  const time = Number(seconds) * 1_000 + Number(micros) / 1_000;
  return { least: time - clock.now(), most: time - sent };
}

/** Finds primaries of a Cluster with different clocks: a slot that moves takes its leases and tokens to another clock. */
export function clocksApart(readings: readonly Reading[]): Finding | undefined {
  if (readings.length < 2) return undefined;
  const apart = mostOf(readings.map(({ least }) => least)) - leastOf(readings.map(({ most }) => most));
  if (apart < NOTHING) return undefined;
  return {
    severity: 'warning',
    code: 'clocks',
    message: `the clocks of two nodes are at least ${Math.round(apart)} ms apart: a lock whose slot moves expires by so much too early or too late`,
    advice: 'synchronize the clocks of all nodes (NTP) before a slot moves',
  };
}
