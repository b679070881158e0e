import { join } from 'node:path';
import { lock as lockFile } from 'proper-lockfile';
import { file } from '../../src/backends/file/index.ts';
import type { Contestant, Contestants, Place } from '../contestant.ts';
import { holdfast } from './holdfast.ts';

const properLockfile = ({ path }: Place): Contestant => ({
  lock: (key) => () =>
    lockFile(join(path, key), { realpath: false, retries: { forever: true, minTimeout: 5, factor: 1 } }),
});

export default {
  holdfast: ({ path }) => holdfast(file({ path: join(path, 'locks.db') })),
  'proper-lockfile': properLockfile,
} satisfies Contestants;
