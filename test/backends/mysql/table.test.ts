import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { mysql, mysqlNamed } from '../../../src/backends/mysql/index.ts';
import { Server } from '../../../src/backends/mysql/server.ts';
import type { Grant } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { startProxy } from '../../kit/proxy.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf, hastened } from './claims.ts';
import { numbersTo, placeOf } from './rows.ts';
import { useServer } from './server.ts';

const grant = (answer: unknown): Grant => {
  expect(answer).toMatchObject({ granted: true });
  return answer as Grant;
};

describeOnMysql('the table of mysql', (kind) => {
  const host = useServer(kind, {
    'innodb-lock-wait-timeout': '1',
    'innodb-flush-log-at-trx-commit': '1',
    'log-bin': 'binlog',
    'sync-binlog': '1',
  });

  test('many processes may set it up at once', async () => {
    const backends = Array.from({ length: 12 }, () => mysql(host.pool(), { table: 'at_once' }));
    await Promise.all(backends.map((backend) => backend.setup()));
    grant(await backends[0]!.attempt(claimOf('a')));
    expect(await backends[1]!.attempt(claimOf('a'))).toMatchObject({ granted: false });
    for (const backend of backends) await backend.close();
  });

  test('a format it does not know is refused, not guessed', async () => {
    const pool = host.pool();
    const backend = mysql(pool, { table: 'newer' });
    await backend.setup();
    await pool.query("UPDATE newer SET queue = 'holdfast 2' WHERE name = ''");
    const other = mysql(pool, { table: 'newer' });
    await expect(other.attempt(claimOf('a'))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: /holdfast 2/,
    });
    await other.close();
    await backend.close();
  });

  test('sessions that do not commit by themselves are refused', async () => {
    const pool = host.pool({ connectionLimit: 1 });
    const backend = mysql(pool);
    await pool.query('SET autocommit = 0');
    await expect(backend.attempt(claimOf('a'))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: /autocommit/,
    });
    await backend.close();
  });

  test('without the rights, and on a server that takes no writes, the refusal says what to do', async () => {
    const root = host.pool();
    const owner = mysql(root, { table: 'guarded' });
    await owner.setup();
    await owner.close();
    await root.query("CREATE USER reader@'127.0.0.1'");
    await root.query("GRANT SELECT ON holdfast.guarded TO reader@'127.0.0.1'");
    const reader = mysql(host.pool({ user: 'reader' }), { table: 'guarded' });
    const claim = claimOf('a');
    await expect(reader.attempt(claim)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', message: /grant the user/ });
    await root.query("GRANT INSERT, UPDATE, DELETE ON holdfast.guarded TO reader@'127.0.0.1'");
    await root.query('SET GLOBAL read_only = 1');
    const later = mysql(host.pool({ user: 'reader' }), { table: 'guarded' });
    const refused = await later.attempt(claim).catch((error: Error) => error);
    expect(refused).toMatchObject({ message: expect.stringMatching(/takes no writes.*primary/) });
    expect(refused, 'it is not for good: the address may lead to another server').not.toHaveProperty('code');
    expect((await later.check()).map(({ code }) => code)).toEqual(expect.arrayContaining(['read-only', 'rights']));
    await root.query('SET GLOBAL read_only = 0');
    grant(await later.attempt(claim));
    await Promise.all([reader.close(), later.close()]);
  });

  test('what endangers locks is found, and a sound server has nothing to say', async () => {
    const root = host.pool({ connectionLimit: 1 });
    const backend = mysql(root, { table: 'checked' });
    expect(await backend.check()).toEqual([]);
    await root.query('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
    await root.query('SET GLOBAL sync_binlog = 0');
    await root.query('SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE');
    await root.query('SET SESSION wait_timeout = 30');
    const found = await backend.check();
    const durable = { MariaDB: 3, MySQL: 1 }[kind.name]; // 3 is as durable as 1
    await root.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${durable}`);
    await root.query('SET GLOBAL sync_binlog = 1');
    expect(found.map(({ code }) => code).sort()).toEqual([
      'binlog-not-synced',
      'idle-limit',
      'isolation',
      'no-durability',
    ]);
    const dangers = found.filter(({ severity }) => severity === 'danger').map(({ code }) => code);
    expect(dangers).toEqual(['no-durability', 'binlog-not-synced']);
    expect((await backend.check()).map(({ code }) => code).sort()).toEqual(['idle-limit', 'isolation']);
    await backend.close();
  });

  test('a table that is not as setup() makes it is named, and so is its engine', async () => {
    const pool = host.pool();
    const backend = mysql(pool, { table: 'holdfast.shaped' });
    await backend.setup();
    const shaped = async () => (await backend.check()).filter(({ code }) => code === 'table-shape');
    expect(await shaped()).toEqual([]);
    for (const [change, word] of [
      ['ENGINE = MyISAM', /MyISAM|InnoDB/],
      ['ENGINE = InnoDB, MODIFY token INT NOT NULL', /token/],
    ] as const) {
      await pool.query(`ALTER TABLE shaped ${change}`);
      expect(await shaped()).toMatchObject([{ severity: 'danger', message: expect.stringMatching(word) }]);
    }
    await backend.close();
  });

  test('a swept key goes on with higher tokens, also when it is asked for while it is swept', async () => {
    const pool = host.pool();
    const backend = mysql(pool, { table: 'swept', idle: 0, sweep: 0 });
    const dead = claimOf('dead', { ttl: 20 });
    grant(await backend.attempt(dead));
    const first = claimOf('live', { tokenCount: 50 });
    let last = grant(await backend.attempt(first)).token;
    await backend.release(first);
    await until('the rows are gone', async () => {
      await backend.sweep();
      const [rows] = await pool.query("SELECT name FROM swept WHERE name <> ''");
      return (rows as unknown[]).length === 0;
    });
    for (let i = 0; i < 30; i++) {
      const claim = claimOf('live');
      const [answer] = await Promise.all([backend.attempt(claim), backend.sweep()]);
      const { token } = grant(answer);
      expect(token).toBeGreaterThan(i === 0 ? last + 49n : last);
      last = token;
      await backend.release(claim);
    }
    await backend.close();
  });

  test('a sweep that fails at one row goes on with the others, and then throws', async () => {
    const pool = host.pool();
    const backend = mysql(pool, { table: 'torn', sweep: 0, idle: 60_000 });
    await backend.setup();
    const put = "INSERT INTO torn (name, token, used, queue, value) VALUES (?, 1, 0, ?, '')";
    await pool.query(put, ['holdfast/0 torn', '@torn;']);
    await pool.query(put, ['holdfast/1 dead', placeOf('dead', 1_000_000_000_000_000)]);
    await pool.query(`INSERT INTO torn SELECT CONCAT('holdfast/2 ', seq), 1, 0, '', '', 0 FROM ${numbersTo(2_100)}`);
    await expect(backend.sweep()).rejects.toThrow(TypeError);
    const [left] = await pool.query("SELECT CONCAT(name, ': ', queue) AS row FROM torn WHERE name <> '' ORDER BY name");
    expect((left as { row: Buffer }[]).map(({ row }) => `${row}`)).toEqual([
      'holdfast/0 torn: @torn;',
      'holdfast/1 dead: ',
    ]);
    await backend.close();
  });

  test('no statement of a sweep reads or removes more than a few thousand rows, however large the table is', async () => {
    const pool = host.pool();
    const backend = mysql(pool, { table: 'large', sweep: 0, idle: 60_000 });
    await backend.setup();
    const now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
    await pool.query(
      `INSERT INTO large SELECT CONCAT('holdfast/', seq), seq, ${now}, '', '', 0 FROM ${numbersTo(20_000)}`,
    );
    await pool.query(
      `INSERT INTO large SELECT CONCAT('holdfast/old', seq), seq, 0, '', '', 0 FROM ${numbersTo(5_000)}`,
    );
    await pool.query('TRUNCATE mysql.slow_log');
    await pool.query("SET GLOBAL log_output = 'TABLE', long_query_time = 0, slow_query_log = 1");
    const fresh = mysql(host.pool(), { table: 'large', sweep: 0, idle: 60_000 }); // whose sessions keep the log
    try {
      expect(await fresh.sweep()).toBe(5_000);
    } finally {
      await pool.query('SET GLOBAL slow_query_log = 0, long_query_time = 10');
    }
    const [[most]] = (await pool.query(
      "SELECT MAX(rows_examined) AS rows_read FROM mysql.slow_log WHERE sql_text LIKE '%`large`%' AND sql_text NOT LIKE 'INSERT%'",
    )) as unknown as [[{ rows_read: number }]];
    expect(most.rows_read).toBeGreaterThan(0);
    expect(most.rows_read, 'rows that one statement looked at').toBeLessThan(5_000);
    await Promise.all([backend.close(), fresh.close()]);
  });

  test('of all processes one sweeps in each interval', async () => {
    const pool = host.pool();
    const first = mysql(pool, { table: 'turns' });
    await first.setup();
    await first.close();
    await pool.query("INSERT INTO turns SELECT 'holdfast/old', 0, 0, '', '', 0");
    await pool.query("UPDATE turns SET used = 0 WHERE name = ''");
    const backends = Array.from({ length: 4 }, () => mysql(pool, { table: 'turns', idle: 1_000, sweep: 40 }));
    await until('the row is gone', async () => {
      const [rows] = await pool.query("SELECT name FROM turns WHERE name <> ''");
      return (rows as unknown[]).length === 0;
    });
    for (const backend of backends) await backend.close();
  });

  test('an attempt that waited for the row until it was too late is refused', async () => {
    const backend = mysql(host.pool(), { table: 'late' });
    const before = claimOf('row');
    grant(await backend.attempt(before));
    await backend.release(before);
    const blocker = await host.pool().getConnection();
    await blocker.beginTransaction();
    await blocker.query("SELECT * FROM late WHERE name = 'holdfast/row' FOR UPDATE");
    const answer = backend.attempt(claimOf('row', { within: 300, queue: false }));
    await blocker.query('DO SLEEP(0.6)');
    await blocker.rollback();
    expect(await answer).toEqual({ granted: false, late: true });
    const next = claimOf('row', { queue: false });
    grant(await backend.attempt(next));
    blocker.release();
    await backend.close();
  });

  test('a claim that is given up while it rides on a release leaves nothing', async () => {
    const backend = mysql(host.pool(), { table: 'riding' });
    await backend.setup();
    const [over, next] = [claimOf('a'), claimOf('a')]; // the release of what is over finds nothing to exchange
    await Promise.allSettled([backend.release(over, next), backend.release(next)]);
    for await (const { key } of backend.inspect!('')) expect.unreachable(`something stands in the queue of ${key}`);
    await backend.close();
  });

  test('a link that fell silent keeps neither its connection from the pool nor the process from ending', async () => {
    const link = await startProxy(host.server.port);
    const pool = host.pool({ port: link.port, connectionLimit: 1 });
    const sockets: Socket[] = [];
    pool.pool.on('connection', (made) => sockets.push((made as unknown as { stream: Socket }).stream));
    const backend = mysql(pool, { table: 'silent', sweep: 0, clock: hastened(10) });
    await backend.setup();
    link.blackhole();
    const claim = claimOf('silent', { within: 60_000 });
    expect(await backend.attempt(claim).catch((error) => error)).toBeInstanceOf(Error);
    await until('its socket is closed', () => sockets[0]!.destroyed);
    await link.pass(); // for others: what was lost does not come again
    expect(await backend.release(claim)).toEqual({ freed: false });
    expect(sockets).toHaveLength(2);
    await backend.close();
    await settleWithin('the pool ends', pool.end(), 2_000).catch(() => {});
    await link[Symbol.asyncDispose]();
  });

  test('a wait for a row that ran out is tried again', async () => {
    const backend = mysql(host.pool(), { table: 'blocked' });
    const before = claimOf('row');
    grant(await backend.attempt(before));
    await backend.release(before);
    const blocker = await host.pool().getConnection();
    await blocker.beginTransaction();
    await blocker.query("SELECT * FROM blocked WHERE name = 'holdfast/row' FOR UPDATE");
    const answer = backend.attempt(claimOf('row', { within: 8_000 }));
    await blocker.query('DO SLEEP(1.5)');
    await blocker.rollback();
    grant(await answer);
    blocker.release();
    await backend.close();
  });

  test('both kinds of pool of mysql2 will do', async () => {
    const pool = host.pool();
    const callback = pool.pool as unknown as Parameters<typeof mysql>[0];
    for (const backend of [mysql(callback, { table: 'either' }), mysqlNamed(callback, { table: 'either' })]) {
      const claim = claimOf('a');
      grant(await backend.attempt(claim));
      expect(await backend.release(claim)).toMatchObject({ freed: true });
      await backend.close();
    }
  });

  test.each([
    { rowsAsArray: true },
    { nestTables: true as const },
    { typeCast: false },
    { supportBigNumbers: true, bigNumberStrings: true, decimalNumbers: true, dateStrings: true },
    { namedPlaceholders: true, multipleStatements: true },
  ])('a pool whose own rows come as %o will do', async (options) => {
    const locks = createLocks(mysql(host.pool(options)));
    await locks.mutex('formed').run(async () => {});
    await locks.close();
  });

  test('bad names of tables and prefixes are refused before anything is sent', () => {
    const pool = host.pool();
    for (const table of ['a b', 'a`b', '', 'a.b.c', 'ä', 'a'.repeat(65)]) {
      expect(() => mysql(pool, { table })).toThrow(/table/);
      expect(() => mysqlNamed(pool, { table })).toThrow(/table/);
    }
    expect(() => mysql(pool, { prefix: 'a/b' })).toThrow(/prefix/);
    expect(() => mysqlNamed(pool, { prefix: '' })).toThrow(/prefix/);
  });

  test.each([
    { poll: Number.NaN },
    { poll: 0 },
    { idle: -1 },
    { sweep: -1 },
    { sweep: Number.NaN },
  ])('the option %o is refused before anything is sent', (options) => {
    const [name] = Object.keys(options);
    expect(() => mysql(host.pool(), options)).toThrow(`${name} is`);
  });
});

describeOnMysql('the table of mysql where packets are small and no mode is strict', (kind) => {
  const host = useServer(kind, { 'max-allowed-packet': '8192', 'net-buffer-length': '1024', 'sql-mode': '' });

  test('a queue that would outgrow what the server takes keeps all who are in it, and takes nobody else', async () => {
    const backend = mysql(host.pool());
    const holder = claimOf('a');
    grant(await backend.attempt(holder));
    let answer: unknown;
    for (let waiting = 0; waiting < 100 && !(answer instanceof Error); waiting++) {
      answer = await backend.attempt(claimOf('a', { label: '長'.repeat(128) })).catch((error) => error);
      expect(answer).not.toMatchObject({ granted: true });
    }
    expect(answer, 'of one more').toBeInstanceOf(Error);
    await until('it is renewed', async () => {
      const [renewal] = await backend.renew([holder]); // fails where the server ended the connection over the packet
      expect(renewal).toEqual({ validFor: holder.ttl });
      return true;
    });
    await backend.close();
  });

  test('a queue that takes no more claims is still stored without a holder that has died', async () => {
    const backend = mysql(host.pool(), { sweep: 0 });
    grant(await backend.attempt(claimOf('full', { ttl: 2_000 })));
    const label = '長'.repeat(100);
    const first = claimOf('full', { label });
    expect(await backend.attempt(first)).toMatchObject({ granted: false });
    let answer: unknown;
    for (let waiting = 0; waiting < 100 && !(answer instanceof Error); waiting++)
      answer = await backend.attempt(claimOf('full', { label })).catch((error) => error);
    expect(answer, 'of one more').toBeInstanceOf(Error);
    await until('the first waiter holds', async () => (await backend.attempt(first)).granted, 10_000);
    await backend.close();
  });

  test('a connection that the server ended over a packet does not go back to the pool', async () => {
    const pool = host.pool({ connectionLimit: 1 });
    let givenBack = 0;
    pool.on('release', () => givenBack++);
    const server = new Server(pool, systemClock);
    const large = server.run({ sql: 'SELECT LENGTH(?) AS size', values: [Buffer.alloc(20_000)] });
    await expect(large).rejects.toMatchObject({ errno: 1153 });
    expect(givenBack).toBe(0);
    expect(await server.run({ sql: 'SELECT LENGTH(?) AS size', values: ['sound'] })).toEqual([{ size: 5 }]);
    expect(givenBack).toBe(1);
    server.close();
  });
});
