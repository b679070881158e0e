/** What one node has said. `asked`: it may have something of this claim to give back. */
export type NodeAnswer =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'yes';
      readonly ticket: bigint;
      /** Tickets in a row. */
      readonly span: number;
      readonly until: number;
      readonly lost?: AbortSignal;
    }
  | { readonly kind: 'no'; readonly why: 'refused' | 'late' | Error; readonly asked: boolean };

export const OPEN: NodeAnswer = { kind: 'open' };
export const UNASKED: NodeAnswer = { kind: 'no', why: new Error('was not asked'), asked: false };
export const REFUSED: NodeAnswer = { kind: 'no', why: 'refused', asked: false };
export const LATE: NodeAnswer = { kind: 'no', why: 'late', asked: false };

/** Aborted when the vote is gone, where its node can tell. */
export const lostOf = (said: NodeAnswer): AbortSignal | undefined => (said.kind === 'yes' ? said.lost : undefined);
