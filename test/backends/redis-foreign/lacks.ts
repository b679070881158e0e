import type { Lacks } from '../../kit/suite.ts';

const WRITES = 'other programs write the keys, and would not keep what it takes';

/** Why laws do not apply to engines that keep the layout of another program. What is not here is kept by them as by any other engine. */
export const FOREIGN_LACKS: Lacks = {
  'counted units': 'neither layout has permits with leases',
  fairness: 'but for an RFairLock, neither layout has a queue',
  turns: 'another program that asks more often gets in more often',
  'token blocks': 'a token is one grant of theirs or ours',
  delay: WRITES,
  'observed expiry': 'the server ends a lease',
  buffered: 'a waiter watches the key itself',
  changed: 'a listing of strangers is asked for, not told',
  'hold watch': 'most programs tell nobody of a force; a renewal does',
  hints: WRITES,
  values: WRITES,
  'faults.die': 'a hold depends on its key, not on a session',
  'faults.stall': 'a hold depends on its key, not on a session',
};

export const MUTEX_LACKS: Lacks = { ...FOREIGN_LACKS, 'shared units': 'the layout has one holder' };
