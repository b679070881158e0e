import { expect, test } from 'vitest';
import { manualClock, storeLaws } from '../../../products/testing/index.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';

/** A table that counts from 1 in each row, so a row that is made again has the versions of the one before. */
function counting(rows: Map<string, { text: string; version: number }>, removes = false): RegisterStore {
  return {
    name: 'counting',
    async read(key) {
      const row = rows.get(key);
      return row && { text: row.text, version: String(row.version) };
    },
    async write(key, text, ifVersion) {
      const row = rows.get(key);
      if ((row && String(row.version)) !== ifVersion) return false;
      const version = (row?.version ?? 0) + 1;
      rows.set(key, { text, version });
      return String(version);
    },
    ...(removes && {
      async remove(key: string) {
        rows.delete(key);
      },
    }),
  };
}

const claim = (id: string): Claim => ({
  key: 'k',
  id,
  ...EXCLUSIVE,
  ttl: 600_000,
  queue: false,
  tokenCount: 1,
  within: 60_000,
  label: id,
});

test('what a process remembers of an idle key is not written on after a minute: somebody may have removed it, and versions begin anew', async () => {
  const clock = manualClock();
  const rows = new Map<string, { text: string; version: number }>();
  const [one, other] = [0, 1].map(() => register(counting(rows), { clock }));
  const made = { key: 'k', id: 'first' };
  await one!.attempt(claim('first'));
  await one!.release(made);
  const remembered = rows.get('holdfast/l/k')!.version;
  rows.delete('holdfast/l/k');
  await clock.advance(61_000);
  const grant = await other!.attempt(claim('other'));
  expect(grant, 'the next holder').toMatchObject({ granted: true });
  while (rows.get('holdfast/l/k')!.version < remembered) await other!.renew([claim('other')]);
  expect(await one!.attempt(claim('second')), 'while the other one holds').toMatchObject({ granted: false });
  expect(await other!.renew([claim('other')])).toMatchObject([{ validFor: 600_000 }]);
});

test.each([
  true,
  false,
])('a store whose versions begin anew breaks a law of stores, with remove: %s', async (removes) => {
  const rows = new Map<string, { text: string; version: number }>();
  const laws = storeLaws(async () => counting(rows, removes));
  const broken = laws.find(({ name }) => name === 'what was removed and made again has another version');
  await expect(broken!.run()).rejects.toThrow(/version/);
});
