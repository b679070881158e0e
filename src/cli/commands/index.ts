import type { Command } from '../command.ts';
import { check } from './check.ts';
import { completion } from './completion.ts';
import { demo } from './demo.ts';
import { ls } from './ls.ts';
import { release } from './release.ts';
import { run } from './run.ts';
import { show } from './show.ts';
import { watch } from './watch.ts';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [run, ls, show, watch, release, check, demo, completion];
