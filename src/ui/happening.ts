/** `granted`: somebody holds it now. `over`: a hold ended, and nobody followed. `handed`: both. `left`: somebody waits no more. */
export type Happening = 'granted' | 'over' | 'handed' | 'left';

/**
 * How a hold ended. `released`: it had time left, so somebody gave it back or took it away. `lapsed`: its time was over, and the
 * look before was a moment ago. `ended`: one of these; nobody looked often enough to say which.
 */
export type End = 'released' | 'lapsed' | 'ended' | 'evicted';
