import assert from 'node:assert/strict';
import { type Backend, deadlineOf, SHARED } from '../../core/index.ts';
import type { Contender } from '../contender.ts';
import { type Law, law } from '../law.ts';

/** A claim without a sign of life loses its hold or its place. The claims that then fit hold the key. */
export const expiry: readonly Law[] = [
  law('a hold expires, and a renewal does not bring it back', ['expires'], async (scene) => {
    const [dead, next] = scene.pair({ ttl: scene.ttl });
    await dead.gets();
    await next.waits();
    await scene.expired();
    await dead.isGone();
    await next.gets();
    await dead.hasNothing();
  }),
  law('nobody else is in before the time is over that a grant or a renewal promised', ['expires'], async (scene) => {
    for (const ask of ['gets', 'renews'] as const) {
      const holder = scene.contender({ ttl: scene.ttl });
      await holder.gets();
      await scene.pass(scene.ttl / 4);
      const sent = scene.clock.now();
      const { validFor } = await holder[ask]();
      const next = scene.contender({ queue: false });
      while (!(await next.attempt()).granted) await scene.pass(scene.ttl / 40);
      const spent = scene.clock.now() - sent;
      // Holders keep this margin because clocks run at different rates.
      assert.ok(spent >= deadlineOf(0, validFor), `another is in ${spent} ms after ${validFor} ms were promised`);
      await next.leaves();
    }
  }),
  law(
    'an expiry never moves backwards: an attempt again leaves a hold what a renewal has confirmed',
    ['expires'],
    async (scene) => {
      for (const seats of [{}, SHARED]) {
        if (seats === SHARED && scene.clients[0].traits.units === 'exclusive') return;
        const holder = scene.contender({ ...seats, ttl: scene.ttl });
        const beside = seats === SHARED ? scene.contender(SHARED) : undefined;
        await holder.gets();
        await beside?.gets();
        await holder.renews(scene.ttl * 20);
        // Stands for an old message that arrives only after the renewal.
        await holder.gets();
        await beside?.leaves();
        await scene.expired();
        await scene.contender({ queue: false }).waits();
        await holder.renews();
        await holder.leaves();
      }
    },
  ),
  law(
    'where expires are observed, a newcomer takes over an old hold when it has watched for a whole lease',
    ['observed expiry'],
    async (scene) => {
      const dead = scene.contender({ ttl: scene.ttl });
      await dead.gets();
      await scene.expired();
      const newcomer = scene.contender({ queue: false }, await scene.another());
      await newcomer.waits();
      await scene.pass(scene.ttl / 2);
      await newcomer.waits();
      await scene.expired(scene.ttl / 2);
      await newcomer.gets();
      await dead.isGone();
    },
  ),
  law(
    'where expires are observed, processes that come for a part of a lease each free an old hold in two leases',
    ['observed expiry'],
    async (scene) => {
      const dead = scene.contender({ ttl: scene.ttl });
      await dead.gets();
      const came = scene.clock.now();
      for (let visit = 1; ; visit++) {
        const newcomer = scene.contender({}, await scene.another());
        if ((await newcomer.attempt()).granted) break;
        // A fourth of a lease each, besides their requests: what each has watched is added up.
        assert.ok(
          visit < 8,
          `${newcomer} is the eighth, and the dead ${dead} has been there for ${scene.clock.now() - came} ms`,
        );
        await scene.pass(scene.ttl / 4);
        await newcomer.release();
      }
      await dead.isGone();
    },
  ),
  law(
    'where expires are observed, what several watch at the same time counts once, and a sign of life ends it',
    ['observed expiry'],
    async (scene) => {
      const holder = scene.contender({ ttl: scene.ttl });
      const others = [];
      for (let n = 0; n < 4; n++) others.push(await scene.another());
      const [last, ...watching] = others;
      let over = 0;
      await holder.gets();
      for (let round = 0; round < 2; round++) {
        const sent = scene.clock.now();
        if ((await holder.renew()) === 'gone')
          return assert.ok(round > 0 && scene.clock.now() >= over, `${holder} is gone before its end`);
        over = deadlineOf(sent, scene.ttl);
        // Where requests are slow, a lease may be over by then: that is no sum of watches.
        const isKept = async (client: Backend | undefined, queue: boolean): Promise<boolean> => {
          const other = scene.contender({ queue }, client);
          const { granted } = await other.attempt();
          const early = over - scene.clock.now();
          assert.ok(!granted || early <= 0, `another is in ${early} ms before the end of the lease`);
          if (queue && !granted) leaving.push(other);
          return !granted;
        };
        const leaving: Contender[] = [];
        for (const client of watching) if (!(await isKept(client, true))) return;
        await scene.pass(scene.ttl * 0.6);
        for (const each of leaving) await each.release();
        if (!(await isKept(last, false))) return;
      }
    },
  ),
  law('the expiry of a hold admits the next in line', ['expires', 'fair'], async (scene) => {
    const dead = scene.contender({ ttl: scene.ttl });
    const [next, last] = scene.pair({ ttl: scene.ttl * 20 });
    await dead.gets();
    await next.waits();
    await last.waits();
    await scene.expired();
    await last.waits();
    await next.gets();
  }),
  law('the expiry of a place admits those behind it', ['expires', 'fair', 'shared seats'], async (scene) => {
    const holder = scene.contender(SHARED);
    const dead = scene.contender({ ttl: scene.ttl });
    const next = scene.contender(SHARED);
    await holder.gets();
    await dead.waits();
    await next.waits();
    await scene.expired();
    await next.gets();
    await dead.hasNothing();
  }),
  law('a dead waiter stalls the line no longer than its place and its hold', ['expires', 'fair'], async (scene) => {
    const holder = scene.contender();
    const dead = scene.contender({ ttl: scene.ttl });
    const next = scene.contender();
    await holder.gets();
    await dead.waits();
    await next.waits();
    await holder.leaves();
    await scene.expired();
    await next.gets();
  }),
  law('repeated attempts keep a hold and a place alive past their ttl', ['expires', 'fair'], async (scene) => {
    const ttl = scene.ttl * 3; // which outlives a stall of the machine
    const [holder, waiter] = scene.pair({ ttl });
    const { token } = await holder.gets();
    await waiter.waits();
    const late = scene.contender();
    await late.waits();
    for (let spent = 0; spent < ttl * 1.2; spent += ttl / 10) {
      await scene.pass(ttl / 10);
      assert.equal((await holder.gets()).token, token, `${holder} asked every ${ttl / 10} ms`);
      await waiter.waits();
    }
    await holder.leaves();
    await late.waits();
    await waiter.gets();
  }),
  law('of several readers the silent one expires alone', ['expires', 'shared seats'], async (scene) => {
    const dead = scene.contender({ ...SHARED, ttl: scene.ttl });
    const alive = scene.contender(SHARED);
    await dead.gets();
    await alive.gets();
    await scene.expired();
    await dead.isGone();
    await alive.renews();
    await scene.contender({ queue: false }).waits();
    await alive.leaves();
    await scene.contender({ queue: false }).gets();
  }),
];
