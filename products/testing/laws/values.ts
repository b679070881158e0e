import assert from 'node:assert/strict';
import { listOf, type NewValue, type StoredValue } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import { ANY, courses, VALUE_TTL_MS } from '../course.ts';
import type { Participant } from '../participant.ts';
import type { Scene } from '../scene.ts';
import { shownBy } from './inspection.ts';

const WAITERS = 4;
const ASKING = { accepts: ANY };

export const stateOf = ({ clients, key }: Scene) => clients[1].values!.look(key);

export const stores = (holder: Participant, text: string, how?: Partial<NewValue>): Promise<boolean> =>
  holder.store({ text, ttl: VALUE_TTL_MS, ...how });

/** Stores a value. @returns the token of the hold that did so */
export async function stored(scene: Scene, text: string, how?: Partial<NewValue>): Promise<bigint> {
  const holder = await scene.holder({ accepts: { ...ANY, age: -1 } });
  assert.ok(await stores(holder, text, how), `${holder} held the key`);
  return holder.token;
}

async function isAnswered(participant: Participant, text: string): Promise<StoredValue> {
  const { value } = await participant.waits();
  if (!value) assert.fail(`${participant} must be answered, but was refused`);
  assert.equal(value.text, text, `what ${participant} is answered by`);
  return value;
}

/** Makes a holder and waiters, which all ask for a value. */
async function askers(scene: Scene): Promise<[holder: Participant, waiters: Participant[]]> {
  const holder = await scene.holder(ASKING);
  const waiters = [];
  while (waiters.length < WAITERS) waiters.push(await scene.waiter(ASKING));
  return [holder, waiters];
}

/** The value that a hold stores under its key, and how it answers claims that ask for a value. */
export const values: readonly Law[] = needing('values', [
  law('what keys remember can be listed by the beginning of their names', async (scene) => {
    const { key, clients } = scene;
    if (!clients[1].values?.keys) return; // `keys` is optional
    const lists = async (keys: readonly string[], what: string, prefix = key): Promise<void> =>
      assert.deepEqual(await listOf(clients[1].values!.keys!(prefix)), keys, what);
    await lists([], 'before');
    await stored(scene, 'result');
    await lists([key], 'a value');
    await lists([key], 'a value, by a part of the name', key.slice(0, -1));
    await lists([], 'of a name that is longer', `${key}x`);
    await clients[0].values!.forget(key);
    await lists([], 'after it was forgotten');
    const counting = await scene.holder({ accepts: { age: -1, mark: '-', counts: VALUE_TTL_MS } });
    await lists([key], 'a hold that counts');
    await counting.leaves();
    await lists([key], 'a hold that stored nothing');
  }),
  law('words left by a release answer each claim that asks for them, and no other', async (scene) => {
    const token = await stored(scene, 'result');
    for (const participant of [scene.participant(ASKING), scene.participant(ASKING)]) {
      const answer = await isAnswered(participant, 'result');
      assert.equal(answer.token, token, 'the token of the hold that stored it');
      assert.ok(answer.age >= 0 && answer.age < scene.patience, `stored ${answer.age} ms ago`);
      const { validFor } = answer;
      assert.ok(validFor > VALUE_TTL_MS / 2 && validFor <= VALUE_TTL_MS + 2_000, `valid for ${validFor} ms`);
      await participant.hasNothing();
    }
    const plain = await scene.holder();
    await isAnswered(scene.participant(ASKING), 'result');
    await plain.leaves();
    assert.equal((await stateOf(scene)).value?.text, 'result');
  }),
  law('the next claim of a release is not granted past words that answer it', async (scene) => {
    await stored(scene, 'result');
    const holder = await scene.holder();
    const next = scene.participant(ASKING, holder.client);
    const answer = await holder.release(next.claim);
    assert.notEqual(answer.next?.granted, true, `${next} was granted`);
    await isAnswered(next, 'result');
  }),
  ...courses(['fairness'], {
    'only a hold leaves words: no stranger, no waiter, no former holder': `
      holder gets, waiter waits, stranger cannot store, waiter cannot store, nothing is stored,
      holder leaves, holder cannot store, nothing is stored, asking claim gets`,
    'a release without words admits the next waiter only': `
      asking holder gets, asking next waits, asking last waits, asking holder leaves, asking last waits,
      asking next gets, asking last waits, asking next stores, asking last is answered by asking next`,
  }),
  ...courses(['expiry'], {
    'a hold that has expired leaves no words':
      'brief holder gets, time passes, brief holder cannot store, nothing is stored, asking claim gets',
    'the expiry of a hold leaves the words as they were': `
      fresh keeper gets, fresh keeper stores, brief holder gets, time passes,
      asking claim is answered by fresh keeper`,
  }),
  ...courses(['expiry', 'fairness'], {
    'a death without words admits the next waiter only': `
      brief asking holder gets, asking next waits, asking last waits, time passes,
      asking last waits, asking next gets, asking last waits`,
  }),
  ...courses(['evict'], {
    'a plain release and an eviction leave the words as they were': `
      fresh keeper gets, fresh keeper stores, holder gets, holder leaves,
      evicted holder gets, evicted holder is evicted, asking claim is answered by fresh keeper`,
  }),
  ...courses([], {
    'words are over after their time': `
      fresh holder gets, fresh holder stores for a moment, asking claim is answered by fresh holder,
      time passes, asking next gets, nothing is stored`,
  }),
  law('a second release with words changes nothing', async (scene) => {
    const holder = await scene.holder(ASKING);
    await stores(holder, 'first');
    assert.equal(await stores(holder, 'second'), false);
    const { value } = await stateOf(scene);
    assert.deepEqual([value?.text, value?.token], ['first', holder.token]);
  }),
  law('words older than a claim asks for do not answer it, and stay for others', async (scene) => {
    await stored(scene, 'old');
    await scene.pass(scene.tolerance);
    const picky = await scene.holder({ accepts: { ...ANY, age: 1 } });
    await isAnswered(scene.participant(ASKING), 'old');
    await picky.leaves();
  }),
  law('words without an age answer every claim that asks, until their time is over', async (scene) => {
    await stored(scene, 'an error', { ttl: scene.ttl, ageless: true });
    await scene.pass(Math.min(scene.tolerance, scene.ttl / 2));
    const { age } = await isAnswered(scene.participant({ accepts: { ...ANY, age: 0 } }), 'an error');
    assert.equal(age, 0, 'the age that is told of it');
    await scene.expired();
    await scene.holder(ASKING);
  }),
  law('the words of a later hold take the place of those before', async (scene) => {
    const [first, second] = [await stored(scene, 'first'), await stored(scene, 'second')];
    assert.ok(second > first, `token ${second} after ${first}`);
    assert.equal((await isAnswered(scene.participant(ASKING), 'second')).token, second);
  }),
  law('one release with words answers every waiter, and leaves no place of any', ['fairness'], async (scene) => {
    const [holder, waiters] = await askers(scene);
    await stores(holder, 'for all');
    const answers = await Promise.all(waiters.map((waiter) => isAnswered(waiter, 'for all')));
    for (const { token } of answers) assert.equal(token, holder.token);
    await scene.isFree();
  }),
  law('a release with words wakes the waiters', ['wake-ups', 'fairness'], async (scene) => {
    const [holder, waiters] = await askers(scene);
    const watches = await Promise.all(waiters.map((waiter) => scene.watch(waiter)));
    try {
      await stores(holder, 'for all');
      const hears = waiters.map(async (waiter, n) => {
        await watches[n]!.isWoken();
        await isAnswered(waiter, 'for all');
      });
      await Promise.all(hears);
    } finally {
      for (const watching of watches) await watching[Symbol.asyncDispose]();
    }
  }),
  law('words come back as they were, and are in no listing', ['inspect'], async (scene) => {
    const { maxBytes } = scene.clients[0].traits.values!;
    const texts = ['', ' ', '-', '1 2 3', 'line\nline\r\n', '"\\\'{}%', '\u0000\u2028é漢😀', 'x'.repeat(maxBytes)];
    for (const text of texts) {
      await stored(scene, text);
      await isAnswered(scene.participant(ASKING), text);
    }
    const secret = 'a secret word';
    await stored(scene, secret);
    assert.deepEqual(await scene.entries(), []);
    const holder = await scene.holder();
    assert.ok(!(await shownBy(scene)).includes(secret));
    await holder.leaves();
  }),
  law('of holds that end at once the words of one stay, and answer all', async (scene) => {
    const waiting = new Set(Array.from({ length: WAITERS }, () => scene.participant(ASKING)));
    const told = new Set<string>();
    while (waiting.size > 0) {
      const rounds = [...waiting].map(async (participant) => {
        const attempt = await participant.attempt();
        const { label } = participant.claim;
        if (attempt.granted) await stores(participant, label);
        else if (!attempt.value) return;
        told.add(attempt.granted ? label : attempt.value!.text);
        waiting.delete(participant);
      });
      await Promise.all(rounds);
      if (waiting.size > 0) await scene.pass(1);
    }
    assert.equal(told.size, 1, `one holder stored a value, and these were told: ${[...told].join(', ')}`);
  }),
]);
