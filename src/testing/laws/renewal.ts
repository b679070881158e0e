import assert from 'node:assert/strict';
import { EXCLUSIVE } from '../../core/index.ts';
import { type Law, law } from '../law.ts';

/** `renew` makes a hold last for its ttl from now, and never creates one. */
export const renewal: readonly Law[] = [
  law('renew answers every claim, in order', async (scene) => {
    const client = scene.clients[0];
    const line = ['/first', '/gone', '/last'].map((name) => scene.contender({ key: scene.key + name }, client));
    for (const contender of line) await contender.gets();
    await line[1]!.leaves();
    const answers = await client.renew(line.map(({ claim }) => claim));
    const kinds = answers.map((answer) => (typeof answer === 'string' ? answer : 'renewed'));
    assert.deepEqual(kinds, ['renewed', 'gone', 'renewed']);
    assert.deepEqual(await client.renew([]), [], 'no claims, no answers');
  }),
  law('renew keeps the token and says for how long the hold is good', async (scene) => {
    const holder = scene.contender();
    const { token } = await holder.gets();
    await holder.renews();
    assert.equal((await holder.gets()).token, token, 'a renewal must not change the token');
  }),
  law('renew never revives a released hold', async (scene) => {
    const [former, next] = scene.pair();
    await former.gets();
    await former.leaves();
    await former.isGone();
    await next.gets();
    await former.isGone();
  }),
  law('renewed in time, a hold outlives its ttl and is never reported lost', ['expires'], async (scene) => {
    const holder = scene.contender({ ttl: scene.ttl });
    const { lost } = await holder.gets();
    for (let spent = 0; spent < scene.ttl * 1.5; spent += scene.ttl / 5) {
      await scene.pass(scene.ttl / 5);
      await holder.renews();
    }
    await scene.contender({ queue: false }).waits();
    assert.notEqual(lost?.aborted, true, `${holder} is still good, and was reported lost`);
  }),
  law('another client renews a hold, by key, id and ttl alone', ['expires', 'renewal from anywhere'], async (scene) => {
    const [client, another] = scene.clients;
    const taken = scene.contender({ ttl: scene.ttl }, client);
    await taken.gets();
    const { key, id, within } = taken.claim;
    const bare = { key, id, within, ttl: scene.ttl * 20, ...EXCLUSIVE, queue: false, tokenCount: 1, label: '' };
    assert.equal(typeof (await another.renew([bare]))[0], 'object', `${taken} must be renewed by another client`);
    await scene.expired();
    await scene.contender({ queue: false }, another).waits();
    await taken.leaves();
    assert.deepEqual(await another.renew([bare]), ['gone'], 'what its own client has released is gone for all');
  }),
  law('renew may lengthen a lease', ['expires'], async (scene) => {
    const holder = scene.contender({ ttl: scene.ttl });
    await holder.gets();
    await holder.renews(scene.ttl * 20);
    await scene.expired();
    await scene.contender({ queue: false }).waits();
  }),
  law('renew may shorten a lease', ['expires'], async (scene) => {
    const holder = scene.contender({ ttl: scene.ttl * 20 });
    await holder.gets();
    await holder.renews(scene.ttl);
    const next = scene.contender({ queue: false });
    await next.waits();
    await scene.expired();
    await next.gets();
  }),
];
