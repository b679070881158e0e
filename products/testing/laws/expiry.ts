import assert from 'node:assert/strict';
import { type Backend, deadlineOf, EXCLUSIVE, SHARED } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import { courses } from '../course.ts';

/** `renew` makes a hold last for its ttl from now, and never creates a hold. */
const renewal: readonly Law[] = [
  law('renew answers every claim, in order', async (scene) => {
    const [client] = scene.clients;
    const wishes = ['/first', '/gone', '/last'].map((name) => ({ key: scene.key + name }));
    const holders = [];
    for (const wish of wishes) holders.push(await scene.holder(wish, client));
    await holders[1]!.leaves();
    const answers = await client.renew(holders.map(({ claim }) => claim));
    const kinds = answers.map((answer) => (typeof answer === 'string' ? answer : 'renewed'));
    assert.deepEqual(kinds, ['renewed', 'gone', 'renewed']);
    assert.deepEqual(await client.renew([]), [], 'no claims, no answers');
  }),
  ...courses([], {
    'renew keeps the token and says for how long the hold is good':
      'holder gets, holder renews, holder gets the same token',
    'renew never revives a released hold': 'former gets, former leaves, former is gone, next gets, former is gone',
  }),
  law('a renewal confirms no claim that only waits', ['fairness'], async (scene) => {
    // Core renews only what an engine has granted. An engine without blocks of tokens cannot serve in a quorum, which renews what it was not answered.
    if (!scene.clients[0].traits.tokenBlocks) return;
    const kinds = {
      exclusive: [EXCLUSIVE],
      shared: [EXCLUSIVE, SHARED],
      counted: [SHARED, EXCLUSIVE, { units: 2, capacity: 3 }],
    };
    for (const units of kinds[scene.clients[0].traits.units]) {
      const holder = await scene.holder(units === SHARED ? EXCLUSIVE : units);
      const waiters = [await scene.waiter(units), await scene.waiter(units)];
      for (const waiter of waiters) await waiter.isGone();
      await holder.renews();
      for (const each of [holder, ...waiters]) await each.leaves();
    }
  }),
  law('renewed in time, a hold outlives its ttl and is never reported lost', ['expiry'], async (scene) => {
    const holder = scene.participant({ ttl: scene.ttl });
    const { lost } = await holder.gets();
    for (let spent = 0; spent < scene.ttl * 1.5; spent += scene.ttl / 5) {
      await scene.pass(scene.ttl / 5);
      await holder.renews();
    }
    await scene.passing().waits();
    assert.notEqual(lost?.aborted, true, `${holder} is still good, and was reported lost`);
  }),
  law('another client renews a hold, by key, id and ttl alone', ['expiry', 'renewal from anywhere'], async (scene) => {
    const [client, another] = scene.clients;
    const taken = await scene.holder({ ttl: scene.ttl }, client);
    const { key, id, within } = taken.claim;
    const bare = { key, id, within, ttl: scene.ttl * 20, ...EXCLUSIVE, queue: false, tokenCount: 1, label: '' };
    assert.equal(typeof (await another.renew([bare]))[0], 'object', `${taken} must be renewed by another client`);
    await scene.expired();
    await scene.passing({}, another).waits();
    await taken.leaves();
    assert.deepEqual(await another.renew([bare]), ['gone'], 'what its own client has released is gone for all');
  }),
  ...courses(['expiry'], {
    'renew may lengthen a lease': 'brief holder gets, brief holder renews for long, time passes, passing claim waits',
    'renew may shorten a lease':
      'holder gets, holder renews for a moment, passing claim waits, time passes, passing claim gets',
  }),
];

/** A claim that is neither renewed nor repeated loses its hold or its place. The claims that then fit hold the key. */
const ends: readonly Law[] = [
  law('nobody else is in before the time is over that a grant or a renewal promised', async (scene) => {
    for (const ask of ['gets', 'renews'] as const) {
      const holder = await scene.holder({ ttl: scene.ttl });
      await scene.pass(scene.ttl / 4);
      const sent = scene.clock.now();
      const { validFor } = await holder[ask]();
      const next = scene.passing();
      while (!(await next.attempt()).granted) await scene.pass(scene.ttl / 40);
      const spent = scene.clock.now() - sent;
      // The deadline is a little earlier, because clocks run at different rates.
      assert.ok(spent >= deadlineOf(0, validFor), `another is in ${spent} ms after ${validFor} ms were promised`);
      await next.leaves();
    }
  }),
  law('an expiry never moves backwards: an attempt again leaves a hold what a renewal has confirmed', async (scene) => {
    for (const units of [EXCLUSIVE, SHARED]) {
      if (units === SHARED && scene.clients[0].traits.units === 'exclusive') return;
      const holder = await scene.holder({ ...units, ttl: scene.ttl });
      const beside = units === SHARED ? await scene.holder(SHARED) : undefined;
      await holder.renews(scene.ttl * 20);
      // This attempt plays an old message that arrives only after the renewal.
      await holder.gets();
      await beside?.leaves();
      await scene.expired();
      await scene.passing().waits();
      await holder.renews();
      await holder.leaves();
    }
  }),
  ...courses([], {
    'a hold expires, and a renewal does not bring it back': `
      brief holder gets, brief next waits, time passes,
      brief holder is gone, brief next gets, brief holder has nothing`,
  }),
  ...courses(['fairness'], {
    'the expiry of a hold admits the next in line':
      'brief holder gets, next waits, last waits, time passes, last waits, next gets',
    'a dead waiter stalls the line no longer than its place and its hold':
      'holder gets, brief waiter waits, next waits, holder leaves, time passes, next gets',
  }),
  ...courses(['fairness', 'shared units'], {
    'the expiry of a place admits those behind it': `
      reader gets, brief writer waits, next reader waits, time passes,
      next reader gets, brief writer has nothing`,
  }),
  ...courses(['shared units'], {
    'of several readers the silent one expires alone': `
      brief reader gets, reader gets, time passes, brief reader is gone, reader renews,
      passing claim 1 waits, reader leaves, passing claim 2 gets`,
  }),
  law('repeated attempts keep a hold and a place alive past their ttl', ['fairness'], async (scene) => {
    const ttl = scene.ttl * 3; // longer than a stall of the machine
    const [holder, waiter] = [await scene.holder({ ttl }), await scene.waiter({ ttl })];
    const { token } = holder;
    const late = await scene.waiter();
    for (let spent = 0; spent < ttl * 1.2; spent += ttl / 10) {
      await scene.pass(ttl / 10);
      assert.equal((await holder.gets()).token, token, `${holder} asked every ${ttl / 10} ms`);
      await waiter.waits();
    }
    await holder.leaves();
    await late.waits();
    await waiter.gets();
  }),
];

/** For engines without a clock: others must watch a hold for its whole lease before they take the key. */
const observed: readonly Law[] = [
  law(
    'where expires are observed, a newcomer takes over an old hold when it has watched for a whole lease',
    async (scene) => {
      const dead = await scene.holder({ ttl: scene.ttl });
      await scene.expired();
      const newcomer = scene.passing({}, await scene.another());
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
    async (scene) => {
      const dead = await scene.holder({ ttl: scene.ttl });
      const came = scene.clock.now();
      for (let visit = 1; ; visit++) {
        const newcomer = scene.participant({}, await scene.another());
        if ((await newcomer.attempt()).granted) break;
        // Each process watches for a fourth of a lease. The engine must add up these times.
        const spent = scene.clock.now() - came;
        assert.ok(visit < 8, `${newcomer} is the eighth, and the dead ${dead} has been there for ${spent} ms`);
        await scene.pass(scene.ttl / 4);
        await newcomer.release();
      }
      await dead.isGone();
    },
  ),
  law(
    'where expires are observed, what several watch at the same time counts once, and a sign of life ends it',
    async (scene) => {
      const holder = scene.participant({ ttl: scene.ttl });
      const others: Backend[] = [];
      for (let n = 0; n < 4; n++) others.push(await scene.another());
      const [last, ...watching] = others;
      let over = 0;
      await holder.gets();
      for (let round = 0; round < 2; round++) {
        const sent = scene.clock.now();
        if ((await holder.renew()) === 'gone')
          return assert.ok(round > 0 && scene.clock.now() >= over, `${holder} is gone before its end`);
        over = deadlineOf(sent, scene.ttl);
        // If requests are slow, the lease may really be over by then. Then a grant is right.
        const refused = async (client: Backend | undefined, queue: boolean) => {
          const other = scene.participant({ queue }, client);
          const { granted } = await other.attempt();
          const early = over - scene.clock.now();
          assert.ok(!granted || early <= 0, `another is in ${early} ms before the end of the lease`);
          return granted ? undefined : other;
        };
        const leaving = [];
        for (const client of watching) {
          const other = await refused(client, true);
          if (!other) return;
          leaving.push(other);
        }
        await scene.pass(scene.ttl * 0.6);
        for (const each of leaving) await each.release();
        if (!(await refused(last, false))) return;
      }
    },
  ),
];

export const expiry: readonly Law[] = [
  ...renewal,
  ...needing('expiry', ends),
  ...needing('observed expiry', observed),
  law('an attempt that reaches the engine late is refused, and leaves nothing', ['faults.stall'], async (scene) => {
    const [client, other] = scene.clients;
    const early = scene.passing({}, client);
    await early.gets(); // now the client knows the engine's time
    await early.leaves();
    const late = scene.participant({ within: scene.ttl }, client);
    const resume = await scene.subject.faults!.stall!(client);
    // A client that gave up throws, because it does not know the outcome. The outcome must still be a refusal.
    const answer = client.attempt(late.claim).catch(() => undefined);
    await scene.expired();
    await resume();
    assert.notEqual((await answer)?.granted, true, `${late} was granted ${scene.ttl} ms and more after it was sent`);
    await scene.passing({}, other).gets();
  }),
  law('what a dead client held or waited for is free again after the ttl', ['faults.die'], async (scene) => {
    const [dying, client] = scene.clients;
    const holder = scene.participant({ ttl: scene.ttl }, dying);
    const { lost } = await holder.gets();
    await scene.waiter({ ttl: scene.ttl }, dying);
    const next = await scene.waiter({}, client);
    await scene.subject.faults!.die!(dying);
    await scene.expired();
    // If the hold of the dead client expired before its waiting claim, that claim became a hold, which must expire, too.
    if (!(await next.attempt()).granted) await scene.expired();
    await next.gets();
    if (lost) assert.ok(lost.aborted, `${holder} lost its session, and its lost signal is silent`);
  }),
];
