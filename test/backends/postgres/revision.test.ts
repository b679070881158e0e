import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres, setupScript } from '../../../src/backends/postgres/index.ts';
import { REVISION } from '../../../src/backends/postgres/revision.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, Database } from './database.ts';

/** What programs of the first revision set up. */
const FIRST = readFileSync(new URL('fixtures/revision-1.sql', import.meta.url), 'utf8');
const CALL = 'SELECT holdfast_attempt($1, $2, 1, 1, 30000, 1, $3, $4, NULL, NULL, NULL, 6000)::text AS answer';

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

  test('an older one is replaced, with all that is held and waited for, and old programs go on beside', async () => {
    const of = named('older');
    await database.sql(of(FIRST));
    const old = async (key: string, id: string, queue: boolean): Promise<string> =>
      String((await database.sql(of(CALL), [Buffer.from(key), id, Buffer.from(''), queue]))[0]!.answer);
    const first = await old('key', 'a', true);
    expect(first).toMatch(/^\(held,1,/);
    expect(await old('key', 'b', true)).toMatch(/^\(waits,,1,/);

    const backend = await database.open((pool) => postgres(pool, { prefix: 'older' }));
    const claim = claimOf('key');
    expect(await backend.attempt(claim), 'behind the two of the old program').toMatchObject({
      granted: false,
      ahead: 2,
    });
    expect(await body('older_attempt')).toContain(`-- holdfast revision ${REVISION}`);
    const release = async (id: string) =>
      (await database.sql(of('SELECT holdfast_release($1, $2) AS freed'), [Buffer.from('key'), id]))[0]!.freed;
    expect(await release('a')).toBe(true);
    expect(await old('key', 'b', true)).toMatch(/^\(held,/);
    expect(await release('b')).toBe(true);
    const grant = await backend.attempt(claim);
    expect(grant.granted && grant.token).toBeGreaterThan(2n);
    expect(await old('key', 'c', false), 'the new program holds it').toMatch(/^\(waits,/);
    expect(await backend.release(claim)).toEqual({ freed: true });
    expect(await old('key', 'c', false)).toMatch(/^\(held,/);
    expect((await backend.check!()).filter(({ code }) => code === 'revision')).toEqual([]);
    await backend.close();
  });

  test('while programs lock, it is replaced under them, and nobody is in twice', async () => {
    const of = named('moving');
    await database.sql(of(FIRST));
    let inside = 0;
    let [done, over] = [0, false];
    const old = async (n: number): Promise<void> => {
      const client = new pg.Client(database.server.url);
      await client.connect();
      for (let turn = 0; !over; turn++) {
        const values = [Buffer.from('hot'), `old ${n} ${turn}`, Buffer.from(''), false];
        // Undone when the tables change under it.
        const answer = await client.query(of(CALL), values).catch(() => undefined);
        if (answer?.rows[0].answer.startsWith('(held')) {
          expect(++inside, 'inside at a time').toBe(1);
          await new Promise(setImmediate);
          inside--;
          done++;
        }
        const release = () => client.query(of('SELECT holdfast_release($1, $2)'), values.slice(0, 2));
        await release().catch(release); // as programs do after a conflict
      }
      await client.end();
    };
    const running = [1, 2, 3].map(old);
    const locks = createLocks(await database.open((pool) => postgres(pool, { prefix: 'moving' })), { handOff: false });
    for (let n = 0; n < 50; n++) {
      await locks.mutex('hot').run(async () => {
        expect(++inside, 'inside at a time').toBe(1);
        await new Promise(setImmediate);
        inside--;
      });
    }
    over = true;
    await Promise.all(running);
    expect(done, 'old programs that got in').toBeGreaterThan(0);
    await locks.close();
  });

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
