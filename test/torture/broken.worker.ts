/** A process as `holdfast torture` has it, over an engine that breaks a promise: which one its own name tells, behind a `?`. */

import { work } from '../../products/torture/process/work.ts';
import { openBackend } from '../../src/connect/open.ts';
import { createLocks } from '../../src/locks.ts';
import { BROKEN } from './broken.ts';

const broken = BROKEN[process.env.BROKEN ?? '']!;
work(async ({ url, label }) => createLocks(broken(await openBackend(url)), { label }));
