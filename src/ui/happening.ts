/**
 * `granted`: a claim holds the key now. `over`: a hold ended, and no other followed. `handed`: both. `left`: a claim stopped
 * waiting.
 */
export type Happening = 'granted' | 'over' | 'handed' | 'left';

/**
 * How a hold ended. `released`: it had time left, so its holder released it, or somebody evicted it. `lapsed`: its time was
 * over, and the look before was a moment ago. `ended`: one of these, but nobody looked often enough to say which.
 */
export type End = 'released' | 'lapsed' | 'ended' | 'evicted';
