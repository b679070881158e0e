/** A process as `holdfast torture` has it, over an engine that breaks a promise: which one its own name tells, behind a `?`. */
import { openBackend } from '../../src/connect/open.ts';
import { createLocks } from '../../src/locks.ts';
import { work } from '../../src/torture/process/work.ts';
import { BROKEN } from './broken.ts';

const broken = BROKEN[process.env.BROKEN ?? '']!;
work(async ({ url, label }) => createLocks(broken(await openBackend(url)), { label }));
