import cluster from 'node:cluster';
import { once } from 'node:events';
import { file } from '../../../src/backends/file/index.ts';
import { createLocks } from '../../../src/index.ts';
import { serve } from '../../kit/worker.ts';

/** The primary of a cluster whose one worker takes a key and keeps it. */
const calls = {
  async hold(path: string, key: string) {
    await once(cluster.fork({ LOCKS: path, KEY: key }), 'message');
  },
  kill() {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  },
};

export type ClusterCalls = typeof calls;

if (cluster.isPrimary) serve(calls);
else {
  const { LOCKS: path = '', KEY: key = '' } = process.env;
  await createLocks(file({ path })).mutex(key).acquire();
  process.send!('held');
}
