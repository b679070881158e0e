import type { Backend } from '../core/index.ts';
import type { Scene } from './scene.ts';
import type { Subject } from './subject.ts';

/** Whether a subject has what a law needs. */
export const MET = {
  'shared seats': ({ traits }) => traits.units !== 'exclusive',
  'counted seats': ({ traits }) => traits.units === 'counted',
  fair: ({ traits }) => traits.fair,
  turns: ({ traits }) => traits.canStarve !== true,
  fencing: ({ traits }) => traits.fencing !== 'never',
  tokenBlocks: ({ traits }) => traits.tokenBlocks,
  expires: ({ traits }) => traits.expires,
  'renewal from anywhere': ({ traits }) => traits.renewedFrom === 'anywhere',
  'observed expiry': ({ traits }) => traits.observedExpiry === true,
  wakes: ({ traits }) => traits.wakes !== 'never',
  mailbox: ({ traits }) => traits.wakes === 'mailbox',
  inspect: (backend) => backend.inspect !== undefined,
  evict: (backend) => backend.evict !== undefined,
  changed: (backend) => backend.changed !== undefined,
  notes: (backend) => backend.hints !== undefined,
  leaves: ({ traits, values }) => traits.values !== undefined && values !== undefined,
  apart: (_, subject) => subject.apart !== undefined,
  'faults.die': (_, subject) => subject.faults?.die !== undefined,
  'faults.stall': (_, subject) => subject.faults?.stall !== undefined,
} as const satisfies Readonly<Record<string, (backend: Backend, subject: Subject) => boolean>>;

/** What a case may need of its subject, in the words that reports use. */
export type Need = keyof typeof MET;

type Check = (scene: Scene) => Promise<void>;

/** One promise, and how to see whether a backend keeps it. */
export interface Law {
  readonly name: string;
  readonly needs: readonly Need[];
  /** It uses keys with fixed names. */
  readonly alone?: true;
  readonly check: Check;
}

export function law(name: string, ...given: [Check] | [readonly Need[], Check]): Law {
  const [needs, check] = given.length === 1 ? [[], ...given] : given;
  return { name, needs, check };
}
