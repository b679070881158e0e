/** Renewals over a connection of our own that is silent, in virtual time. */
import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import type { Dial } from '../../../src/backends/postgres/pool.ts';
import type { Server } from '../../../src/backends/postgres/server.ts';
import type { Session } from '../../../src/backends/postgres/session.ts';
import { Renewals } from '../../../src/backends/postgres/upkeep.ts';
import { claimOf } from './database.ts';

const SILENT = new Promise<never>(() => {});
const CLAIM = { ...claimOf('key'), ttl: 5_000 };

/** Renewals beside a pool that answers at once. */
function scene({ listening, connect = async () => {} }: { listening?: object; connect?: () => Promise<unknown> }) {
  const clock = manualClock();
  const sent: string[] = [];
  const server = {
    ...{ clock, named: (text: string) => text },
    send: async () => {
      sent.push('pool');
      return [{ answer: '1' }];
    },
  };
  const client = {
    ...{ connect, on() {}, end: async () => {} },
    async query({ text }: { text: string }) {
      if (!text.startsWith('CALL')) return { rows: [] };
      sent.push('own');
      return SILENT;
    },
  };
  const dial = (() => client) as unknown as Dial;
  const renewals = new Renewals(server as unknown as Server, dial, () => listening as Session | undefined);
  const renew = async (): Promise<unknown> => {
    let answer: unknown = 'none within 1.1 s';
    void renewals.renew([CLAIM]).then(
      (got) => {
        answer = got;
      },
      () => {
        answer = 'unknown';
      },
    );
    await clock.advance(1_100);
    return answer;
  };
  return { sent, renew };
}
const RENEWED = [{ validFor: CLAIM.ttl }];

test('while a connection of our own hangs as it is opened, renewals soon go over the pool', async () => {
  const { sent, renew } = scene({ connect: () => SILENT });
  expect(await renew()).toEqual(RENEWED);
  expect(await renew()).toEqual(RENEWED);
  expect(sent).toEqual(['pool', 'pool']);
});

test('a renewal that our own connection does not answer soon is unknown, and the next goes over the pool', async () => {
  const { sent, renew } = scene({});
  expect(await renew(), 'it may still arrive').toBe('unknown');
  expect(await renew()).toEqual(RENEWED);
  expect(sent).toEqual(['own', 'pool']);
});

test('a renewal that the connection that listens does not answer soon is unknown, and the next goes over the pool', async () => {
  const { sent, renew } = scene({ listening: { query: () => SILENT } });
  expect(await renew(), 'it may still arrive').toBe('unknown');
  expect(await renew()).toEqual(RENEWED);
  expect(sent).toEqual(['pool']);
});
