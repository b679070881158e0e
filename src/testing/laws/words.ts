import assert from 'node:assert/strict';
import type { Attempt, NewValue, StoredValue, ValueCondition } from '../../core/index.ts';
import type { Contender } from '../contender.ts';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';

/** An hour: engines that count in seconds know it, too. */
const KEPT = 3_600_000;
const WAITERS = 4;

export const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };

export const leave = (text: string, ttl = KEPT): NewValue => ({ text, ttl });
export const asker = (scene: Scene, accepts: ValueCondition = ANY): Contender => scene.contender({ accepts });

/** A hold that leaves words. @returns its token */
export async function left(scene: Scene, text: string, how?: Omit<NewValue, 'text'>): Promise<bigint> {
  const holder = asker(scene, { ...ANY, age: -1 });
  const { token } = await holder.gets();
  assert.equal((await holder.leavesWords({ ...leave(text), ...how })).stored, true, `${holder} held the key`);
  return token;
}

function answerOf(attempt: Attempt, contender: Contender): StoredValue {
  if (attempt.granted) assert.fail(`${contender} must be answered, but was granted with token ${attempt.token}`);
  if (!attempt.value) assert.fail(`${contender} must be answered, but was refused`);
  return attempt.value;
}

async function isAnswered(contender: Contender, text: string): Promise<StoredValue> {
  const answer = answerOf(await contender.attempt(), contender);
  assert.equal(answer.text, text, `what ${contender} is answered by`);
  return answer;
}

export const rememberedBy = ({ clients, key }: Scene) => clients[1].values!.look(key);

/** Words that a hold leaves under its key, and what they do to those that ask for them. */
export const words: readonly Law[] = [
  law('what keys remember can be listed by the beginning of their names', ['leaves'], async (scene) => {
    const { key, clients } = scene;
    if (!clients[1].values?.keys) return; // an engine may leave it out
    const listed = async (prefix: string): Promise<string[]> => {
      const keys: string[] = [];
      for await (const each of clients[1].values!.keys!(prefix)) keys.push(each);
      return keys;
    };
    assert.deepEqual(await listed(key), [], 'before');
    await left(scene, 'result');
    assert.deepEqual(await listed(key), [key], 'words');
    assert.deepEqual(await listed(key.slice(0, -1)), [key], 'words, by a part of the name');
    assert.deepEqual(await listed(`${key}x`), [], 'of a name that is longer');
    await clients[0].values!.forget(key);
    assert.deepEqual(await listed(key), [], 'after they were forgotten');
    const counting = asker(scene, { age: -1, mark: '-', counts: KEPT });
    await counting.gets();
    assert.deepEqual(await listed(key), [key], 'a hold that counts');
    await counting.leaves();
    assert.deepEqual(await listed(key), [key], 'a hold that left nothing');
  }),
  law('words left by a release answer each claim that asks for them, and no other', ['leaves'], async (scene) => {
    const token = await left(scene, 'result');
    for (const contender of [asker(scene), asker(scene)]) {
      const answer = await isAnswered(contender, 'result');
      assert.equal(answer.token, token, 'the token of the hold that left them');
      assert.ok(answer.age >= 0 && answer.age < scene.patience, `left ${answer.age} ms ago`);
      assert.ok(answer.validFor > KEPT / 2 && answer.validFor <= KEPT + 2_000, `valid for ${answer.validFor} ms`);
      await contender.hasNothing();
    }
    const plain = scene.contender();
    await plain.gets();
    await isAnswered(asker(scene), 'result');
    await plain.leaves();
    assert.equal((await rememberedBy(scene)).value?.text, 'result');
  }),
  law('only a hold leaves words: no stranger, no waiter, no former holder', ['leaves', 'fair'], async (scene) => {
    const [holder, waiter] = scene.pair();
    const stranger = scene.contender();
    await holder.gets();
    await waiter.waits();
    assert.equal((await stranger.leavesWords(leave('of a stranger'))).stored === true, false);
    assert.equal((await waiter.leavesWords(leave('of a waiter'))).stored === true, false);
    assert.equal((await rememberedBy(scene)).value, undefined, 'words of one that does not hold');
    await holder.leaves();
    assert.equal((await holder.leavesWords(leave('of a former holder'))).stored === true, false);
    assert.equal((await rememberedBy(scene)).value, undefined, 'words of one that has held');
    await asker(scene).gets();
  }),
  law('a hold that has expired leaves no words', ['leaves', 'expires'], async (scene) => {
    const dead = scene.contender({ ttl: scene.ttl });
    await dead.gets();
    await scene.expired();
    assert.equal((await dead.leavesWords(leave('too late'))).stored === true, false);
    assert.equal((await rememberedBy(scene)).value, undefined);
    await asker(scene).gets();
  }),
  law('a second release with words changes nothing', ['leaves'], async (scene) => {
    const holder = asker(scene);
    const { token } = await holder.gets();
    await holder.leavesWords(leave('first'));
    assert.equal((await holder.leavesWords(leave('second'))).stored === true, false);
    const { value } = await rememberedBy(scene);
    assert.deepEqual([value?.text, value?.token], ['first', token]);
  }),
  law('words are over after their time', ['leaves'], async (scene) => {
    await left(scene, 'short', { ttl: scene.ttl });
    await isAnswered(asker(scene), 'short');
    await scene.expired();
    await asker(scene).gets();
    assert.equal((await rememberedBy(scene)).value, undefined);
  }),
  law('words older than a claim asks for do not answer it, and stay for others', ['leaves'], async (scene) => {
    await left(scene, 'old');
    await scene.pass(scene.tolerance);
    const picky = asker(scene, { ...ANY, age: 1 });
    await picky.gets();
    await isAnswered(asker(scene), 'old');
    await picky.leaves();
  }),
  law('words without an age answer every claim that asks, until their time is over', ['leaves'], async (scene) => {
    await left(scene, 'an error', { ttl: scene.ttl, ageless: true });
    await scene.pass(Math.min(scene.tolerance, scene.ttl / 2));
    const { age } = await isAnswered(asker(scene, { ...ANY, age: 0 }), 'an error');
    assert.equal(age, 0, 'the age that is told of them');
    await scene.expired();
    await asker(scene).gets();
  }),
  law('the words of a later hold take the place of those before', ['leaves'], async (scene) => {
    const first = await left(scene, 'first');
    const second = await left(scene, 'second');
    assert.ok(second > first, `token ${second} after ${first}`);
    assert.equal((await isAnswered(asker(scene), 'second')).token, second);
  }),
  law('a plain release and an eviction leave the words as they were', ['leaves', 'evict'], async (scene) => {
    const token = await left(scene, 'kept');
    const holder = scene.contender();
    await holder.gets();
    await holder.leaves();
    const evicted = scene.contender();
    await scene.clients[0].evict!(scene.key, (await evicted.gets()).token);
    assert.equal((await isAnswered(asker(scene), 'kept')).token, token);
  }),
  law('the expiry of a hold leaves the words as they were', ['leaves', 'expires'], async (scene) => {
    const token = await left(scene, 'kept');
    await scene.contender({ ttl: scene.ttl }).gets();
    await scene.expired();
    assert.equal((await isAnswered(asker(scene), 'kept')).token, token);
  }),
  law('one release with words answers every waiter, and leaves no place of any', ['leaves', 'fair'], async (scene) => {
    const holder = asker(scene);
    const waiters = Array.from({ length: WAITERS }, () => asker(scene));
    const { token } = await holder.gets();
    for (const waiter of waiters) await waiter.waits();
    await holder.leavesWords(leave('for all'));
    const answers = await Promise.all(waiters.map((waiter) => isAnswered(waiter, 'for all')));
    for (const answer of answers) assert.equal(answer.token, token);
    await scene.isFree();
  }),
  law('a release with words wakes the waiters', ['leaves', 'wakes', 'fair'], async (scene) => {
    const holder = asker(scene);
    const waiters = Array.from({ length: WAITERS }, () => asker(scene));
    await holder.gets();
    for (const waiter of waiters) await waiter.waits();
    const watches = await Promise.all(waiters.map((waiter) => scene.watch(waiter)));
    try {
      await holder.leavesWords(leave('for all'));
      const hears = watches.map(async (watching, n) => {
        await watching.isWoken();
        await isAnswered(waiters[n]!, 'for all');
      });
      await Promise.all(hears);
    } finally {
      for (const watching of watches) await watching[Symbol.asyncDispose]();
    }
  }),
  law('a release without words admits the next waiter only', ['leaves', 'fair'], async (scene) => {
    const holder = asker(scene);
    const [next, last] = [asker(scene), asker(scene)];
    await holder.gets();
    await next.waits();
    await last.waits();
    await holder.leaves();
    await last.waits();
    await next.gets();
    await last.waits();
    await next.leavesWords(leave('of the next'));
    await isAnswered(last, 'of the next');
  }),
  law('a death without words admits the next waiter only', ['leaves', 'expires', 'fair'], async (scene) => {
    const dead = scene.contender({ accepts: ANY, ttl: scene.ttl });
    const [next, last] = [asker(scene), asker(scene)];
    await dead.gets();
    await next.waits();
    await last.waits();
    await scene.expired();
    await last.waits();
    await next.gets();
    await last.waits();
  }),
  law('words come back as they were, and are in no listing', ['leaves', 'inspect'], async (scene) => {
    const { maxBytes } = scene.clients[0].traits.values!;
    const texts = ['', ' ', '-', '1 2 3', 'line\nline\r\n', '"\\\'{}%', '\u0000\u2028é漢😀', 'x'.repeat(maxBytes)];
    for (const text of texts) {
      await left(scene, text);
      await isAnswered(asker(scene), text);
    }
    const secret = 'a secret word';
    await left(scene, secret);
    assert.deepEqual(await scene.standings(), []);
    const holder = scene.contender();
    await holder.gets();
    assert.ok(
      !JSON.stringify(await scene.standings(), (_, v) => (typeof v === 'bigint' ? `${v}` : v)).includes(secret),
    );
    await holder.leaves();
  }),
  law('of holds that end at once the words of one stay, and answer all', ['leaves'], async (scene) => {
    const crowd = Array.from({ length: WAITERS }, () => asker(scene));
    const waiting = new Set(crowd);
    const told = new Set<string>();
    while (waiting.size > 0) {
      const rounds = [...waiting].map(async (contender) => {
        const attempt = await contender.attempt();
        if (attempt.granted) await contender.leavesWords(leave(contender.claim.label));
        else if (!attempt.value) return;
        told.add(attempt.granted ? contender.claim.label : attempt.value!.text);
        waiting.delete(contender);
      });
      await Promise.all(rounds);
      if (waiting.size > 0) await scene.pass(1);
    }
    assert.equal(told.size, 1, `one holder left words, and these were told: ${[...told].join(', ')}`);
  }),
];
