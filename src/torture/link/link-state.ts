import type { LinkFault } from '../events.ts';

/** `up`: to the server. `down`: back from it. */
export type Direction = 'up' | 'down';

/** What happens to bytes for a while. */
export type Slowdown =
  | { readonly kind: 'delayed'; readonly ms: number }
  | { readonly kind: 'stalled'; readonly direction: Direction | 'both' }
  | { readonly kind: 'dripped'; readonly ms: number };

/** What happens once, to the next request or its reply. It ends the connection. */
export type Cut =
  | { readonly kind: 'cut before the request' | 'cut before the reply' | 'cut after the reply' }
  | { readonly kind: 'halved'; readonly direction: Direction };

/** The faults that all connections of one process share. */
export interface LinkState {
  slowdown?: Slowdown;
  nextCut?: Cut;
  /** How often they hit bytes. */
  hits: number;
}

/** @param choice at least 0, below 1 */
export function slowdownOf(kind: LinkFault, choice: number, ttl: number): Slowdown | undefined {
  if (kind === 'delayed') return { kind, ms: 5 + choice * ttl * 0.4 };
  if (kind === 'dripped') return { kind, ms: 1 };
  if (kind === 'stalled') return { kind, direction: choice < 0.4 ? 'both' : choice < 0.7 ? 'up' : 'down' };
  return undefined;
}

/** @param choice at least 0, below 1 */
export function cutOf(kind: LinkFault, choice: number): Cut | undefined {
  if (kind === 'halved') return { kind, direction: choice < 0.5 ? 'up' : 'down' };
  if (kind === 'cut before the request' || kind === 'cut before the reply' || kind === 'cut after the reply')
    return { kind };
  return undefined;
}
