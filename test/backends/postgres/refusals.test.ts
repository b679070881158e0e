import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresOptions, postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, Database } from './database.ts';

const unavailable = (message: RegExp) =>
  expect.objectContaining({ name: 'LockError', code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(message) });

describeOn('postgres', 'what PostgreSQL cannot do is refused in words', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
    await database.sql('CREATE ROLE stranger LOGIN');
    // Before 15 everybody may create there.
    await database.sql('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  });
  afterAll(() => database[Symbol.asyncDispose]());

  for (const make of [postgres, postgresAdvisory]) {
    const failure = async (options: PostgresOptions & { setup?: 'manual' }, config = {}): Promise<unknown> => {
      const backend = await database.open((pool) => make(pool, options as object), config);
      const answer = await backend.attempt(claimOf('a')).catch((error) => error);
      await backend.close();
      return answer;
    };

    test(`${make.name}: not set up`, async () => {
      expect(await failure({ prefix: 'nothing', setup: 'manual' })).toEqual(unavailable(/setup\(\)/));
    });
    test(`${make.name}: no right to set up`, async () => {
      expect(await failure({ schema: 'nowhere' }, { user: 'stranger' })).toEqual(
        unavailable(/CREATE SCHEMA "nowhere" AUTHORIZATION.*setupScript/),
      );
    });
    test(`${make.name}: no right to what is set up`, async () => {
      await failure({});
      expect(await failure({}, { user: 'stranger' })).toEqual(unavailable(/lacks a right/));
    });
    test(`${make.name}: a read-only server`, async () => {
      await failure({});
      const readOnly = { options: '-c default_transaction_read_only=on' };
      const refused = await failure({}, readOnly);
      expect(refused).toMatchObject({ message: expect.stringMatching(/read-only.*primary/) });
      expect(refused, 'it is not for good: the address may lead to another server').not.toHaveProperty('code');
    });
    test(`${make.name}: a password that is wrong or a database that is not there`, async () => {
      expect(await failure({}, { database: 'nowhere' })).toEqual(unavailable(/database does not exist/));
    });
    test(`${make.name}: set up by many at once`, async () => {
      const config = { options: '-c default_transaction_isolation=repeatable\\ read' };
      const backends = await Promise.all(
        Array.from({ length: 8 }, () => database.open((pool) => make(pool, { prefix: 'crowd' }), config)),
      );
      const answers = await Promise.all(backends.map((backend, n) => backend.attempt(claimOf(`key ${n}`))));
      expect(answers.map(({ granted }) => granted)).toEqual(backends.map(() => true));
      await Promise.all(backends.map((backend) => backend.setup()));
      await Promise.all(backends.map((backend) => backend.close()));
    });
    test(`${make.name}: names that could be more than names`, () => {
      for (const prefix of ['', 'a"b', "a'b", 'a b', 'a$holdfast$b', 'é', 'x'.repeat(41)]) {
        expect(() => make(database.admin, { prefix })).toThrow(/prefix/);
      }
    });
    test(`${make.name}: a schema and a prefix of the operator's choice`, async () => {
      const odd = { schema: 'Ops-1.x:y', prefix: 'Select.-:_'.padEnd(40, '0') };
      expect(await failure(odd)).toMatchObject({ granted: true });
    });
    test(`${make.name}: a database whose encoding knows few characters will do`, async () => {
      const latin = `latin_${make.name}`.toLowerCase();
      await database.sql(`CREATE DATABASE ${latin} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
      const backend = await database.open((pool) => make(pool), { database: latin });
      expect(await backend.attempt(claimOf('订单', { label: '订单' }))).toMatchObject({ granted: true });
      expect(await backend.check!()).toMatchObject([{ code: 'no-fsync' }]);
      await backend.close();
    });
    test(`${make.name}: check names what endangers locks`, async () => {
      const backend = await database.open((pool) => make(pool), {
        options: '-c synchronous_commit=off -c default_transaction_isolation=serializable',
      });
      await backend.attempt(claimOf('a'));
      const codes = (await backend.check!()).map(({ code }) => code);
      expect(codes).toEqual(['no-fsync', 'asynchronous-commit', 'isolation']);
      await backend.close();
    });
  }

  test('set up by many at once, it has one row for all', async () => {
    const rows = await database.sql('SELECT format FROM crowd_meta');
    expect(rows).toHaveLength(1);
  });

  test('a level at which nothing is sent again is not warned of', async () => {
    const backend = await database.open((pool) => postgres(pool), {
      options: '-c default_transaction_isolation=read\\ uncommitted', // which PostgreSQL takes for READ COMMITTED
    });
    expect((await backend.check!()).map(({ code }) => code)).not.toContain('isolation');
    await backend.close();
  });

  test('a format from another time is not touched', async () => {
    const first = await database.open((pool) => postgres(pool, { prefix: 'later' }));
    await first.attempt(claimOf('a'));
    await database.sql('UPDATE later_meta SET format = 2');
    const second = await database.open((pool) => postgres(pool, { prefix: 'later' }));
    await expect(second.attempt(claimOf('a'))).rejects.toEqual(unavailable(/format 2.*knows 1/));
    await Promise.all([first.close(), second.close()]);
  });

  test('check says what rights are missing, and that no notification arrives', async () => {
    const owner = await database.open((pool) => postgres(pool, { prefix: 'poor' }));
    await owner.setup();
    await database.sql(
      'GRANT USAGE ON SCHEMA holdfast TO stranger; GRANT SELECT ON poor_meta TO stranger; REVOKE EXECUTE ON FUNCTION poor_renew FROM PUBLIC',
    );
    const poor = await database.open((pool) => postgres(pool, { prefix: 'poor' }), { user: 'stranger' });
    const [found] = (await poor.check!()).filter(({ code }) => code === 'missing-rights');
    const each =
      /UPDATE on "holdfast"\."poor_meta".*INSERT on "holdfast"\."poor_keys".*poor_tokens.*EXECUTE on holdfast\.poor_renew\(json\)\.$/;
    expect(found!.message).toMatch(each);
    await Promise.all([owner.close(), poor.close()]);
  });
});
