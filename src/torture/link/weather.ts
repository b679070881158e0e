import type { LinkFault } from '../history.ts';

/** `up`: to the server. `down`: back from it. */
export type Way = 'up' | 'down';

/** What happens to bytes for a while. */
export type Spell =
  | { readonly kind: 'delayed'; readonly ms: number }
  | { readonly kind: 'stalled'; readonly way: Way | 'both' }
  | { readonly kind: 'dripped'; readonly ms: number };

/** What happens once, to the next request or its reply. It ends the connection. */
export type Trap =
  | { readonly kind: 'cut before the request' | 'cut before the reply' | 'cut after the reply' }
  | { readonly kind: 'halved'; readonly way: Way };

/** The faults that all connections of one process share. */
export interface Weather {
  spell?: Spell;
  trap?: Trap;
  /** How often they hit bytes. */
  hits: number;
}

/** @param choice at least 0, below 1 */
export function spellOf(kind: LinkFault, choice: number, ttl: number): Spell | undefined {
  if (kind === 'delayed') return { kind, ms: 5 + choice * ttl * 0.4 };
  if (kind === 'dripped') return { kind, ms: 1 };
  if (kind === 'stalled') return { kind, way: choice < 0.4 ? 'both' : choice < 0.7 ? 'up' : 'down' };
  return undefined;
}

/** @param choice as of `spellOf` */
export function trapOf(kind: LinkFault, choice: number): Trap | undefined {
  if (kind === 'halved') return { kind, way: choice < 0.5 ? 'up' : 'down' };
  if (kind === 'cut before the request' || kind === 'cut before the reply' || kind === 'cut after the reply')
    return { kind };
  return undefined;
}
