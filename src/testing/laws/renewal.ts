import assert from 'node:assert/strict';
import type { Law } from '../case.ts';

/** `renew` sets a hold to lapse its ttl from now, and never makes one. */
export const renewal: readonly Law[] = [
  {
    name: 'renew answers every claim, in order',
    async check(scene) {
      const client = scene.clients[0];
      const line = ['/first', '/gone', '/last'].map((name) => scene.contender({ key: scene.key + name }, client));
      for (const contender of line) await contender.gets();
      await line[1]!.leaves();
      const answers = await client.renew(line.map(({ claim }) => claim));
      const kinds = answers.map((answer) => (typeof answer === 'string' ? answer : 'renewed'));
      assert.deepEqual(kinds, ['renewed', 'gone', 'renewed']);
      assert.deepEqual(await client.renew([]), [], 'no claims, no answers');
    },
  },
  {
    name: 'renew keeps the ticket and says for how long the hold is good',
    async check(scene) {
      const holder = scene.contender();
      const { ticket } = await holder.gets();
      await holder.renews();
      assert.equal((await holder.gets()).ticket, ticket, 'a renewal must not change the ticket');
    },
  },
  {
    name: 'renew never revives a released hold',
    async check(scene) {
      const [former, next] = scene.pair();
      await former.gets();
      await former.leaves();
      await former.isGone();
      await next.gets();
      await former.isGone();
    },
  },
  {
    name: 'renewed in time, a hold outlives its ttl and is never reported lost',
    needs: ['lapses'],
    async check(scene) {
      const holder = scene.contender({ ttl: scene.ttl });
      const { lost } = await holder.gets();
      for (let spent = 0; spent < scene.ttl * 1.5; spent += scene.ttl / 5) {
        await scene.pass(scene.ttl / 5);
        await holder.renews();
      }
      await scene.contender({ queue: false }).waits();
      assert.notEqual(lost?.aborted, true, `${holder} is still good, and was reported lost`);
    },
  },
  {
    name: 'renew may lengthen a lease',
    needs: ['lapses'],
    async check(scene) {
      const holder = scene.contender({ ttl: scene.ttl });
      await holder.gets();
      await holder.renews(scene.ttl * 20);
      await scene.lapsed();
      await scene.contender({ queue: false }).waits();
    },
  },
  {
    name: 'renew may shorten a lease',
    needs: ['lapses'],
    async check(scene) {
      const holder = scene.contender({ ttl: scene.ttl * 20 });
      await holder.gets();
      await holder.renews(scene.ttl);
      await scene.lapsed();
      await scene.contender({ queue: false }).gets();
    },
  },
];
