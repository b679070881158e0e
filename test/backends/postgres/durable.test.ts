import { expect, test } from 'vitest';
import { postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

/** A server that answers before anything is on disk, and writes it there as late as it can. */
const LAZY = { synchronous_commit: 'off', wal_writer_delay: '10s', wal_writer_flush_after: '1GB', autovacuum: 'off' };

describeOn('postgres', 'a server that does not wait for its disk', () => {
  for (const make of [postgres, postgresAdvisory]) {
    test(`${make.name}: a token that was answered is never given again, though the server is killed`, async () => {
      await using own = await Database.start(LAZY);
      const backend = await own.open((pool) => make(pool));
      const holding = claimOf('held');
      const tokens: bigint[] = [];
      const take = async (key: string): Promise<void> => {
        const claim = claimOf(key);
        const grant = await backend.attempt(claim);
        if (!grant.granted) throw new Error(`${key} is taken`);
        tokens.push(grant.token);
        await backend.release(claim);
      };
      await take('b'); // sets up
      await own.sql('CHECKPOINT');
      // The sequence writes ahead for 32 numbers: so many, that it has to do so again.
      for (let n = 0; n < 40; n++) await take('a');
      const held = await backend.attempt(holding);
      await own.server.restart(); // kills it
      await until('it is back', () =>
        take('a').then(
          () => true,
          () => false,
        ),
      );
      const after = tokens.pop()!;
      const before = tokens.reduce((most, token) => (token > most ? token : most));
      expect(after, 'the token of a grant after the crash').toBeGreaterThan(before);
      if (make === postgres) {
        expect(await backend.attempt(claimOf('held', { queue: false })), 'what was granted is kept').toMatchObject({
          granted: false,
        });
        expect(await backend.renew([holding])).toEqual([{ validFor: holding.ttl }]);
        expect(held.granted).toBe(true);
      }
      await backend.close();
    });
  }

  test('a token of advisory locks is on disk with its answer, also when another program has not committed the sequence yet', async () => {
    await using own = await Database.start(LAZY);
    const backend = await own.open((pool) => postgresAdvisory(pool));
    const token = async (): Promise<bigint> => {
      const claim = claimOf('a');
      const grant = await backend.attempt(claim);
      if (!grant.granted) throw new Error('the key is free');
      await backend.release(claim);
      return grant.token;
    };
    await token(); // sets up
    await own.sql('CHECKPOINT');
    const other = await own.admin.connect();
    await other.query('BEGIN');
    // The first number after a checkpoint writes ahead for 32 more.
    await other.query('SELECT holdfast_token(NULL)');
    const before = await token();
    other.on('error', () => {});
    other.release(true);
    await own.server.restart(); // kills it
    await until('it is back', () =>
      own.sql('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
    expect(await token(), 'the token of a grant after the crash').toBeGreaterThan(before);
    await backend.close();
  });
});
