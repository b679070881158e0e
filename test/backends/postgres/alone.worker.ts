/** A script that has nothing to do but what it awaits here: it must neither end before that, nor go on after it. */
import pg from 'pg';
import { postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';
import { createLocks } from '../../../src/index.ts';

const pool = new pg.Pool({ connectionString: process.env.URL, allowExitOnIdle: true });
const locks = createLocks(process.argv[2] === 'advisory' ? postgresAdvisory(pool) : postgres(pool));
const lease = await locks.mutex('alone').tryAcquire();
await lease?.release();
await locks.mutex('alone').run(() => {});
await locks.check();
console.log('done');
if (process.argv[3] === 'closed') await locks.close();
