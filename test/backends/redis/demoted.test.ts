import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

/** As where a name or an address moves to the next primary, and nobody ends the connections to the last one. */
describeOn('redis', 'redis whose primary becomes a replica under its clients', () => {
  let old: Server;
  let next: Server;
  let near: Fleet;
  let far: Fleet;

  beforeAll(async () => {
    [old, next] = [await startRedis(), await startRedis()];
  });
  afterAll(async () => {
    for (const server of [old, next]) await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await follow(next, old);
    await askRedis(old.port, 'FLUSHALL');
    [near, far] = [new Fleet(old.port), new Fleet(next.port)];
  });
  afterEach(async () => {
    for (const fleet of [near, far]) await fleet[Symbol.asyncDispose]();
  });

  const hasAll = (replica: Server, primary: Server): Promise<void> =>
    until('the replica has everything', async () => {
      const [ours, theirs] = [await askRedis(primary.port, 'INFO replication'), await askRedis(replica.port, 'INFO')];
      const offset = /^master_repl_offset:(\d+)/m.exec(ours)![1];
      return theirs.includes('master_link_status:up') && theirs.includes(`slave_repl_offset:${offset}`);
    });

  async function follow(replica: Server, primary: Server): Promise<void> {
    await askRedis(primary.port, 'REPLICAOF NO ONE');
    await askRedis(replica.port, `REPLICAOF 127.0.0.1 ${primary.port}`);
    await hasAll(replica, primary);
  }

  for (const library of LIBRARIES) {
    test(`${library}: who still listens there takes no grant that its server has given to another`, async () => {
      const [holder, behind, third] = [wish('demoted'), wish('demoted'), wish('demoted')];
      const [left, right] = [await near.backend(library), await far.backend(library)];
      granted(await left.attempt(holder));
      await using mail = await Mail.of(left, behind);
      expect((await left.attempt(behind)).granted).toBe(false);
      await hasAll(next, old);
      await follow(old, next);
      await using heard = await Mail.of(right, third);
      expect((await right.attempt(third)).granted).toBe(false);
      const mark = near.ioredis();
      await mark.subscribe('mark');
      const marked = new Promise((resolve) => mark.once('message', resolve));
      expect((await right.release(holder)).freed).toBe(true);
      granted(await right.attempt(third));
      await heard.next();
      await askRedis(next.port, 'PUBLISH mark after');
      await settleWithin('what was told before has arrived too', marked);
      await new Promise((resolve) => setTimeout(resolve, 20)); // over another connection
      expect(mail.wakes, 'grants for who was passed over').toEqual([]);
    });

    test(`${library}: the listening connection goes where the client goes`, async () => {
      const listener = async (): Promise<string | undefined> =>
        /\bid=(\d+)/.exec(await askRedis(old.port, 'CLIENT LIST TYPE pubsub'))?.[1];
      await askRedis(old.port, 'REPLICAOF NO ONE');
      const [holder, waiter] = [wish('moved'), wish('moved')];
      const backend = await near.backend(library);
      granted(await backend.attempt(holder));
      await using _mail = await Mail.of(backend, waiter);
      const before = await listener();
      expect(before).toBeDefined();
      await askRedis(old.port, 'CLIENT KILL TYPE normal');
      await until('another one listens', async () => ![undefined, before].includes(await listener()));
    });
  }
});
