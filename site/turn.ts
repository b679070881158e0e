/** One build of the site at a time: the reference's pages and what VitePress makes meanwhile have one place in the repository. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { file } from '../src/backends/file/index.ts';
import { createLocks } from '../src/locks.ts';
import { root } from './pages.ts';

/** Waits for the turn; gives its end. A build that dies leaves it at once, and one that is busy keeps it without renewals. */
export async function turn(): Promise<() => Promise<void>> {
  mkdirSync(join(root, '.tmp'), { recursive: true });
  const locks = createLocks(file({ path: join(root, '.tmp/site.db') }));
  const lease = await locks.mutex('site').acquire({ wait: '10m', ttl: '10m' });
  return async () => {
    await lease.release();
    await locks.close();
  };
}
