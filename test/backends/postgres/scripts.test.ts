import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { postgres, setupScript } from '../../../src/backends/postgres/index.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { Database } from './database.ts';

test('the generated SQL modules are what the .sql files say', () => {
  const build = fileURLToPath(new URL('../../../scripts/build-sql.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [build, '--check'], { stdio: 'pipe' })).not.toThrow();
});

test('a name that the script would not take is refused, not left out', () => {
  for (const names of [{ prefx: 'mine' }, { prefix: 'a"b' }, { schema: '' }, 'mine'])
    expect(() => setupScript(names as object)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

describeOn('postgres', 'a migration of one’s own', () => {
  test('the script is one text that can be run again, after which nothing has to be set up', async () => {
    await using database = await Database.start();
    const names = { schema: 'locks', prefix: 'mine' };
    await database.sql('CREATE SCHEMA locks');
    for (let run = 0; run < 2; run++) await database.admin.query(setupScript(names));
    const tables = async () => database.sql("SELECT oid FROM pg_class WHERE relname LIKE 'mine%' ORDER BY oid");
    const before = await tables();
    const locks = createLocks(await database.open((pool) => postgres(pool, names)));
    expect(await locks.mutex('order').run(({ held }) => held)).toBe(true);
    await locks.close();
    expect(await tables()).toEqual(before);
  });
});
