import { busyConnections } from './busy-connections.ts';
import { checkThenSet } from './check-then-set.ts';
import { crash, setThenExpire } from './death.ts';
import { failOverLoses } from './fail-over.ts';
import { lostWakeUp } from './lost-wake-up.ts';
import { oneLockForAll } from './one-lock-for-all.ts';
import { oneself } from './oneself.ts';
import { outlivedLease } from './outlived-lease.ts';
import { robbed } from './robbed.ts';
import type { Trap } from './scene.ts';
import { spinning } from './spinning.ts';
import { staleWrite } from './stale-write.ts';

/** By the name they are run with. */
export const traps: Readonly<Record<string, Trap>> = {
  'check-then-set': checkThenSet,
  'set-then-expire': setThenExpire,
  crash,
  'outlived-lease': outlivedLease,
  robbed,
  'stale-write': staleWrite,
  spinning,
  'lost-wake-up': lostWakeUp,
  oneself,
  'fail-over': failOverLoses,
  'one-lock-for-all': oneLockForAll,
  'busy-connections': busyConnections,
};
