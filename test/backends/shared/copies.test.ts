/**
 * Redis and PostgreSQL have the queue of a key in the language of their server. Each does what the pure queue does, step by step, and a
 * copy with a fault does not.
 */
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { redis } from '../../../src/backends/redis/index.ts';
import type { Script } from '../../../src/backends/redis/scripts.generated.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { copyWith, type Fault, moduleOf } from '../../kit/planted.ts';
import { startPostgres } from '../../kit/postgres.ts';
import { compareQueues } from '../../kit/queue-steps.ts';
import { startRedis } from '../../kit/redis.ts';
import { type SteppedClock, steppedClock } from '../../kit/stepped-clock.ts';
import { describeOn } from '../../kit/suite.ts';

const LIMIT = { timeout: 120_000 };
/** Runs in which a fault must be found. */
const ENOUGH = 200;
/** The two were compared, and no call failed. */
const DIFFERENCE = { cause: { name: 'AssertionError' } };

describeOn(['redis', 'preload'], 'the queue in Lua', () => {
  const stack = new AsyncDisposableStack();
  let clock: SteppedClock;
  let client: Redis;
  beforeAll(async () => {
    clock = stack.use(await steppedClock());
    const { port } = stack.use(await clock.under(() => startRedis()));
    client = new Redis(port, '127.0.0.1');
    stack.defer(() => client.disconnect());
  });
  afterAll(() => stack.disposeAsync());

  test('does in each random step what the pure queue does', LIMIT, async () => {
    const backend = stack.adopt(redis(client), (opened) => opened.close());
    await compareQueues({ backend, clock }, 100);
  });

  const scripts = moduleOf<typeof import('../../../src/backends/redis/scripts.generated.ts')>(
    'backends/redis/scripts.generated.ts',
  );
  /** A script before which something runs: it can change what the script finds under a name. */
  const behind =
    (lines: string) =>
    (script: Script): Script => {
      const text = `${lines}\n${script.text}`;
      return { ...script, text, sha1: createHash('sha1').update(text).digest('hex') };
    };
  /** Changes what a script does with the server. `call` is what it does otherwise. */
  const calling = (body: string): string => `
    local server, call = redis, redis.call
    local redis = setmetatable({ call = function(command, ...) ${body} end }, { __index = server })`;

  const LUA_FAULTS: Readonly<Record<string, readonly Fault[]>> = {
    'admits the claim that came last': (['ATTEMPT', 'PASS', 'RELEASE', 'EVICT'] as const).map((name) =>
      scripts.exported(
        name,
        behind(
          calling(`
            local key, min, max = ...
            if command ~= 'ZRANGEBYSCORE' or max ~= '+inf' then return call(command, ...) end
            return call('ZREVRANGEBYSCORE', key, max, min, select(4, ...))`),
        ),
      ),
    ),
    'counts the widest capacity, and not the smallest': (['ATTEMPT', 'PASS', 'RELEASE', 'EVICT'] as const).map((name) =>
      scripts.exported(name, behind('local math = setmetatable({ min = math.max }, { __index = math })')),
    ),
    'lets an attempt again shorten a hold': [
      scripts.exported('ATTEMPT', behind('local math = setmetatable({ max = math.min }, { __index = math })')),
    ],
    'renews by a clock of its own': [
      scripts.exported(
        'RENEW',
        behind(
          calling(`
            local reply = call(command, ...)
            if command == 'TIME' then reply[1] = tostring(reply[1] - 5) end
            return reply`),
        ),
      ),
    ],
    'keeps the place of a claim that has left': [
      scripts.exported(
        'RELEASE',
        behind(calling("return (command == 'ZREM' or command == 'HDEL') and 1 or call(command, ...)")),
      ),
    ],
  };

  test.each(Object.keys(LUA_FAULTS))('is found out where it %s', LIMIT, async (what) => {
    using folder = temporaryFolder();
    const load = await copyWith(LUA_FAULTS[what]!, folder.path);
    const copy = await load<{ readonly redis: typeof redis }>('backends/redis/index.ts');
    const backend = stack.adopt(copy.redis(client), (opened) => opened.close());
    await expect(compareQueues({ backend, clock }, ENOUGH)).rejects.toMatchObject(DIFFERENCE);
  });
});

/** What takes the place of a function: the function itself with other arguments, or something else made of its call. */
interface SqlFault {
  readonly name: string;
  readonly args?: Readonly<Record<string, string>> | undefined;
  readonly made?: (call: string) => string;
}

/** The schema in which the engine keeps its tables and functions by default. */
const SCHEMA = 'holdfast';

/** The claim with another value of one field. */
const withField = (field: string, value: string): SqlFault['args'] => ({
  claim: `jsonb_populate_record(claim, jsonb_build_object('${field}', ${value}))`,
});

describeOn(['postgres', 'preload'], 'the queue in plpgsql', () => {
  const stack = new AsyncDisposableStack();
  let clock: SteppedClock;
  let pool: pg.Pool;
  beforeAll(async () => {
    clock = stack.use(await steppedClock());
    const { url } = stack.use(await clock.under(() => startPostgres({ fsync: 'off' })));
    pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => {});
    stack.defer(() => pool.end());
  }, 60_000);
  afterAll(() => stack.disposeAsync());

  /** A copy of all tables and functions, which is ready. */
  async function copy(prefix: string) {
    const backend = stack.adopt(postgres(pool, { prefix }), (opened) => opened.close());
    await backend.release({ key: 'first', id: systemClock.id() });
    return backend;
  }

  /** Puts a function in the place of another one, which goes on under another name. */
  async function plantIn(prefix: string, { name, args = {}, made = (call) => `SELECT * FROM ${call}` }: SqlFault) {
    const { rows } = await pool.query(
      `SELECT pg_get_function_arguments(oid) AS declared, pg_get_function_result(oid) AS result,
         coalesce(proargnames[1:pronargs], '{}') AS names
       FROM pg_proc WHERE proname = $1`,
      [`${prefix}_${name}`],
    );
    expect(rows, `the function ${name}`).toHaveLength(1);
    const [{ declared, result, names }] = rows as [{ declared: string; result: string; names: string[] }];
    for (const arg of Object.keys(args)) expect(names, `the arguments of ${name}`).toContain(arg);
    const call = `${SCHEMA}."${prefix}_real_${name}"(${names.map((each) => args[each] ?? each).join(', ')})`;
    await pool.query(`ALTER FUNCTION ${SCHEMA}."${prefix}_${name}" RENAME TO "${prefix}_real_${name}";
      CREATE FUNCTION ${SCHEMA}."${prefix}_${name}"(${declared}) RETURNS ${result} LANGUAGE sql AS $faulty$ ${made(call)} $faulty$`);
  }

  test('does in each random step what the pure queue does', LIMIT, async () => {
    await compareQueues({ backend: await copy('sound'), clock }, 40);
  });

  const SQL_FAULTS: Readonly<Record<string, SqlFault>> = {
    'lets nothing expire': { name: 'settle', made: () => 'SELECT (key_row).*' },
    'admits nobody when a claim leaves': { name: 'admit', made: () => 'SELECT (key_row).*' },
    'frees also what has expired': { name: 'release', made: (call) => `SELECT ${call} OR true` },
    'reserves no token but the first': { name: 'attempt', args: withField('token_count', '1') },
    'gives a place to a claim that wants none': { name: 'attempt', args: withField('queue', 'true') },
    'lets a lease be over before its end': { name: 'attempt', args: withField('ttl', '(claim).ttl / 2') },
    'takes a hold for renewed that is gone': { name: 'renew', made: (call) => `SELECT 1 FROM ${call} UNION SELECT 1` },
  };

  test.each(Object.keys(SQL_FAULTS))('is found out where it %s', LIMIT, async (what) => {
    const prefix = `t${systemClock.id()}`;
    const backend = await copy(prefix);
    await plantIn(prefix, SQL_FAULTS[what]!);
    await expect(compareQueues({ backend, clock }, ENOUGH)).rejects.toMatchObject(DIFFERENCE);
  });
});
