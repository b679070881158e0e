import type { Command } from '../command.ts';
import { check } from './check.ts';
import { completion } from './completion.ts';
import { deadlocks } from './deadlocks.ts';
import { demo } from './demo.ts';
import { history } from './history.ts';
import { lead } from './lead.ts';
import { ls, show, watch } from './list.ts';
import { memo } from './memo.ts';
import { once } from './once.ts';
import { release } from './release.ts';
import { run } from './run.ts';
import { setup } from './setup.ts';
import { torture } from './torture.ts';
import { ui } from './ui.ts';
import { who } from './who.ts';

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  run,
  lead,
  once,
  memo,
  ls,
  show,
  who,
  watch,
  deadlocks,
  history,
  ui,
  release,
  check,
  setup,
  torture,
  demo,
  completion(() => COMMANDS),
];
