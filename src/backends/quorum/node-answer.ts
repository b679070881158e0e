/** What one node has said. `asked`: it may have something of this claim to give back. */
export type NodeAnswer =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'yes';
      readonly ticket: bigint;
      /** Tickets in a row. */
      readonly span: number;
      readonly until: number;
      readonly lost?: AbortSignal | undefined;
    }
  | { readonly kind: 'no'; readonly why: 'refused' | 'late' | Error; readonly asked: boolean };

export const OPEN: NodeAnswer = { kind: 'open' };
export const UNASKED: NodeAnswer = { kind: 'no', why: new Error('was not asked'), asked: false };
export const REFUSED: NodeAnswer = { kind: 'no', why: 'refused', asked: false };
export const LATE: NodeAnswer = { kind: 'no', why: 'late', asked: false };

/** Nobody knows whether the node admitted it. */
export const noOf = (why: unknown): NodeAnswer => ({
  kind: 'no',
  why: why instanceof Error ? why : new Error(String(why)),
  asked: true,
});

/** Whether a node may keep the claim: it says so, or nobody knows. */
export const mayKeep = (said: NodeAnswer): boolean => said.kind !== 'no' || said.asked;

/** Aborted when the vote is gone, where its node can tell. */
export const lostOf = (said: NodeAnswer): AbortSignal | undefined => (said.kind === 'yes' ? said.lost : undefined);
