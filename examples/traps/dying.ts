/** Takes the lock `job`, and is killed before it can do anything more. */
import { Redis } from 'ioredis';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';

const [way, port] = process.argv.slice(2);
const client = new Redis(Number(port), '127.0.0.1');

if (way === 'holdfast') await createLocks(redis(client)).mutex('job', { ttl: 500 }).acquire();
else await client.setnx('job', 'me');
process.kill(process.pid, 'SIGKILL'); // an out-of-memory killer; in the way set-then-expire, just before EXPIRE
