import type { Scene } from '../stage/scene.ts';
import { repeatedRelease, robbed } from './giving-back.ts';
import { clocks, oneself, outlivedLease, staleWrite } from './holding.ts';
import { ghost, lostReply } from './messages.ts';
import { failOver, free, splitVotes } from './nodes.ts';
import { checkThenSet, crash, lostWakeUp, setThenExpire, spinning } from './taking.ts';

/** In the order in which they are shown. */
export const SCENES: readonly Scene[] = [
  staleWrite,
  checkThenSet,
  outlivedLease,
  robbed,
  crash,
  setThenExpire,
  lostReply,
  ghost,
  repeatedRelease,
  lostWakeUp,
  spinning,
  oneself,
  clocks,
  failOver,
  splitVotes,
  free,
];
