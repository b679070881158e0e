/** One process of `holdfast torture`. */
import { openBackend } from '../../connect/open.ts';
import { createLocks } from '../../locks.ts';
import { work } from './work.ts';

work(async ({ url, label }) => createLocks(await openBackend(url), { label }));
