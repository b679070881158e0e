import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres, setupScript } from '../../../src/backends/postgres/index.ts';
import { REVISION } from '../../../src/backends/postgres/schema.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, Database } from './database.ts';

test('a change of the scripts raises the revision, or the change would never reach a database that is set up', () => {
  const digest = createHash('sha256')
    .update(setupScript().replaceAll(`revision ${REVISION}`, ''))
    .digest('hex');
  expect({ REVISION, digest: digest.slice(0, 16) }).toEqual({ REVISION: 9, digest: 'b6cf7f21456f929b' });
});

describeOn('postgres', 'functions of another revision', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const body = async (name: string): Promise<string> =>
    String((await database.sql('SELECT prosrc FROM pg_proc WHERE proname = $1', [name]))[0]!.prosrc);
  const corrupt = (name: string, by: string) =>
    database.sql(
      `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('${name}'::regproc), '-- holdfast revision ${REVISION}', '${by}'); END $$`,
    );

  test('a newer one is left as it is, by setup() and by its script, and check reports it', async () => {
    const names = { prefix: 'newer' };
    await database.admin.query(setupScript(names));
    for (const { proname } of await database.sql("SELECT proname FROM pg_proc WHERE proname LIKE 'newer_%'"))
      await corrupt(String(proname), `-- holdfast revision ${REVISION + 1}`);
    const before = await body('newer_release');
    const backend = await database.open((pool) => postgres(pool, names));
    await backend.setup();
    await database.admin.query(setupScript(names));
    expect(await backend.attempt(claimOf('key'))).toMatchObject({ granted: true });
    expect(await body('newer_release')).toBe(before);
    expect((await backend.check!()).filter(({ code }) => code === 'revision')).toMatchObject([{ severity: 'info' }]);
    await backend.close();
  });

  test('check reports a function that somebody changed, and setup() puts it right', async () => {
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
    await database.admin.query(setupScript({ prefix: 'fixed' }));
    await corrupt('fixed_release', '-- holdfast revision 1');
    const backend = await database.open((pool) => postgres(pool, { prefix: 'fixed', setup: 'manual' }));
    await expect(backend.attempt(claimOf('key'))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/revision 1.*needs \d+.*setup\(\)/),
    });
    await backend.close();
  });
});
