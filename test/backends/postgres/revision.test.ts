import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres, setupScript } from '../../../src/backends/postgres/index.ts';
import { REVISION } from '../../../src/backends/postgres/revision.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, Database } from './database.ts';

/** What programs of the first revision set up. */
const FIRST = readFileSync(new URL('fixtures/revision-1.sql', import.meta.url), 'utf8');

test('whoever changes the scripts raises the revision, or the change would never reach a database that is set up', () => {
  const digest = createHash('sha256')
    .update(setupScript().replaceAll(`revision ${REVISION}`, ''))
    .digest('hex');
  expect({ REVISION, digest: digest.slice(0, 16) }).toEqual({ REVISION: 5, digest: '1c834541162e9c41' });
});

describeOn('postgres', 'functions of another revision', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const named = (prefix: string) => (sql: string) => sql.replaceAll('holdfast_', `${prefix}_`);
  const body = async (name: string): Promise<string> =>
    String((await database.sql('SELECT prosrc FROM pg_proc WHERE proname = $1', [name]))[0]!.prosrc);
  const corrupt = (name: string, by: string) =>
    database.sql(
      `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('${name}'::regproc), '-- holdfast revision ${REVISION}', '${by}'); END $$`,
    );

  test('a newer one is left as it is, by setup() and by its script, and check tells of it', async () => {
    const names = { prefix: 'newer' };
    await database.admin.query(setupScript(names));
    for (const name of (
      await database.sql("SELECT proname FROM pg_proc WHERE proname LIKE 'newer_%' AND proname <> 'newer_sweep'")
    ).map(({ proname }) => String(proname)))
      await corrupt(name, `-- holdfast revision ${REVISION + 1}`);
    await corrupt('newer_sweep', `-- holdfast revision ${REVISION + 1}`);
    const before = await body('newer_release');
    const backend = await database.open((pool) => postgres(pool, names));
    await backend.setup();
    await database.admin.query(setupScript(names));
    expect(await backend.attempt(claimOf('key'))).toMatchObject({ granted: true });
    expect(await body('newer_release')).toBe(before);
    expect((await backend.check!()).filter(({ code }) => code === 'revision')).toMatchObject([{ severity: 'info' }]);
    await backend.close();
  });

  test('check tells of a function that somebody changed, and setup() puts it right', async () => {
    const names = { prefix: 'changed' };
    const backend = await database.open((pool) => postgres(pool, names));
    await backend.setup();
    await corrupt('changed_release', `-- holdfast revision ${REVISION} by hand`);
    const found = async () => (await backend.check!()).find(({ code }) => code === 'revision');
    expect(await found()).toMatchObject({ severity: 'warning', message: expect.stringMatching(/changed_release/) });
    await backend.setup();
    expect(await found()).toBeUndefined();
    await backend.close();
  });

  test('where a program may not replace them, it says what to do', async () => {
    const of = named('fixed');
    await database.sql(of(FIRST));
    const backend = await database.open((pool) => postgres(pool, { prefix: 'fixed', setup: 'manual' }));
    await expect(backend.attempt(claimOf('key'))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/revision 1.*needs 2.*setup\(\)/),
    });
    await backend.close();
  });
});
