import { expect, test } from 'vitest';
import { RELEASE } from '../../../src/backends/redis/scripts.generated.ts';
import { lockOf } from '../../../src/backends/redis/server.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import { describeOn } from '../../kit/suite.ts';
import { granted, Mail, wish } from './scene.ts';
import { sharedFleet } from './shared-fleet.ts';

describeOn('redis', 'what redis tells a waiter', () => {
  const here = sharedFleet();

  test.each(['a:wake:3:b', 'wake:2', ':wake:3:'])('is told with the prefix %j, too', async (prefix) => {
    const backend = await here.fleet.backend('ioredis', { prefix });
    const [holder, waiter] = [wish('prefixed'), wish('prefixed')];
    await using mail = await Mail.of(backend, waiter);
    for (const claim of [holder, waiter]) await backend.attempt(claim);
    await backend.release(holder);
    granted(await mail.next());
  });

  test('is written before it is told: a server that is full tells nobody of a grant that it does not keep', async () => {
    const backend = await here.fleet.backend();
    const client = here.fleet.ioredis();
    const holder = wish('full');
    const readers = Array.from({ length: 60 }, () => wish('full', {}, SHARED));
    granted(await backend.attempt(holder));
    const told = new Set<string>();
    for (const { id, ...claim } of readers) {
      await backend.watch!({ id, ...claim }, (grant) => grant && told.add(id));
      await backend.attempt({ id, ...claim });
    }
    // One script admits a portion of them. Its process ends before it goes on.
    expect(await client.eval(RELEASE.text, 1, lockOf('holdfast', 'full'), `${holder.id} 300000`)).toBe(3);
    await client.config('SET', 'maxmemory', '1');
    await expect(backend.attempt(wish('full'))).rejects.toThrow(/OOM/);
    await client.config('SET', 'maxmemory', '0');
    await expect.poll(() => told.size, { message: 'a portion is told' }).toBeGreaterThan(40);
    const places = await client.zmscore(`${lockOf('holdfast', 'full')}:queue`, ...readers.map(({ id }) => id));
    const waiting = readers.filter((_, i) => Number(places[i]) > 0).map(({ id }) => id);
    expect(waiting.length).toBeGreaterThan(0);
    expect(
      waiting.filter((id) => told.has(id)),
      'told, and not admitted',
    ).toEqual([]);
  });
});
