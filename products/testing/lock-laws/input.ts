import assert from 'node:assert/strict';
import { type Backend, type Duration, leaseBounds } from '../../../src/core/index.ts';
import type { Locks } from '../../../src/locks.ts';
import { around } from '../around.ts';
import { type Law, law } from '../case.ts';
import type { Scene } from '../scene.ts';
import { fails } from './outcomes.ts';

const key = 'k';
type Call = (locks: Locks) => unknown;

/** Passes a value that the types refuse, as JavaScript callers can. */
const bad = <T>(value: unknown): T => value as T;

const each = (values: readonly unknown[], row: (value: unknown) => [string, Call]): Record<string, Call> =>
  Object.fromEntries(values.map(row));

const WRONG: Readonly<Record<string, Call>> = {
  'an empty key': (locks) => locks.mutex(''),
  'a key of 513 bytes': (locks) => locks.mutex('k'.repeat(513)),
  'a key of 171 characters of three bytes': (locks) => locks.mutex('漢'.repeat(171)),
  'a key that is a number': (locks) => locks.mutex(bad(5)),
  'a key that is missing': (locks) => locks.mutex(bad(undefined)),
  'a key with half a character': (locks) => locks.mutex('\ud83d'),
  'a ttl of 0': (locks) => locks.mutex(key).acquire({ ttl: 0 }),
  'a ttl that is NaN': (locks) => locks.mutex(key).acquire({ ttl: Number.NaN }),
  'a ttl without a unit': (locks) => locks.mutex(key).acquire({ ttl: '30' as Duration }),
  'a negative wait': (locks) => locks.mutex(key).acquire({ wait: -1 }),
  'a wait that is a word': (locks) => locks.mutex(key).acquire({ wait: 'soon' as Duration }),
  'a notice as long as the ttl': (locks) => locks.mutex(key).acquire({ notice: '30s', ttl: '30s' }),
  'a maxHold of 0': (locks) => locks.mutex(key).run(() => {}, { maxHold: 0 }),
  'no work to run': (locks) => locks.mutex(key).run(bad(undefined)),
  'options before the work': (locks) => locks.mutex(key).run(bad({ wait: 5 })),
  'a negative delay': (locks) => locks.mutex(key, { delay: -1 }),
  'a delay of more than a minute': (locks) => locks.mutex(key, { delay: '61s' }),
  'a negative minHold': (locks) => locks.mutex(key, { minHold: -1 }),
  'renew that is not a boolean': (locks) => locks.mutex(key).acquire({ renew: bad('yes') }),
  'a signal that is none': (locks) => locks.mutex(key).acquire({ signal: bad({ aborted: false }) }),
  'a label that is a number': (locks) => locks.mutex(key, { label: bad(7) }),
  'a misspelt option': (locks) => locks.mutex(key).acquire(bad({ tll: 5 })),
  'an option that is null': (locks) => locks.mutex(key).acquire({ ttl: bad(null) }),
  'null in place of the options': (locks) => locks.mutex(key).acquire(bad(null)),
  'options that are a number': (locks) => locks.mutex(key).tryAcquire(bad(5_000)),
  'a pause of 0': (locks) => locks.mutex(key).acquire({ spin: { pause: 0 } }),
  'jitter above 1': (locks) => locks.mutex(key).acquire({ spin: { jitter: 2 } }),
  'jitter as text': (locks) => locks.mutex(key).acquire({ spin: { jitter: bad('0.5') } }),
  'no keys at all': (locks) => locks.all([]),
  'a key twice': (locks) => locks.all([key, key]),
  'something that is no lock': (locks) => locks.all([bad({})]),
  'keys that are no list': (locks) => locks.all(bad(key)),
  'a forced release without a reason': (locks) => locks.forceRelease(key, { reason: '' }),
  'a forced release without options': (locks) => locks.forceRelease(key, bad(undefined)),
  'a forced release of a misspelt token': (locks) => locks.forceRelease(key, bad({ reason: 'stuck', tiket: 5n })),
  'a forced release of a token that is a number': (locks) =>
    locks.forceRelease(key, { reason: 'stuck', token: bad(5) }),
  'a listing by what is no text': (locks) => locks.inspect(bad(5)),
};

const WRONG_PERMITS: Readonly<Record<string, Call>> = {
  ...each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '3', undefined], (permits) => [
    `permits ${permits}`,
    (locks) => locks.semaphore(key, { permits: bad(permits) }),
  ]),
  ...each([0, -1, 1.5, Number.NaN, 4, '1', null], (units) => [
    `${units} units of 3`,
    (locks) => locks.semaphore(key, { permits: 3 }).acquire({ units: bad(units) }),
  ]),
  'options of a call that are a number': (locks) => locks.semaphore(key, { permits: 3 }).acquire(bad(5)),
  'no options of a semaphore': (locks) => locks.semaphore(key, bad(undefined)),
};

/** The library refuses bad input before the engine is asked. */
export const input: readonly Law[] = [
  law('bad input is LOCK_INVALID before anything is sent', (scene) => refusesAll(scene, WRONG)),
  law('bad numbers of permits are LOCK_INVALID before anything is sent', ['counted units'], (scene) =>
    refusesAll(scene, WRONG_PERMITS),
  ),
  law('a ttl outside the bounds of the engine is LOCK_INVALID, and the bounds themselves are not', async (scene) => {
    const { min, max } = leaseBounds(scene.clients[0].traits, 0);
    const locks = await scene.locks();
    const mutex = locks.mutex(scene.key);
    for (const ttl of [min, max]) locks.mutex(scene.key, { ttl }); // throws nothing
    await fails(() => mutex.acquire({ ttl: min / 2 }), 'LOCK_INVALID', `a ttl of half of ${min} ms`);
    await fails(() => mutex.acquire({ ttl: max * 2 }), 'LOCK_INVALID', `a ttl of twice ${max} ms`);
    await scene.isFree();
  }),
  law('what the engine cannot do is LOCK_UNSUPPORTED when the lock is made', async (scene) => {
    const locks = await scene.locks();
    const { traits, inspect, evict } = scene.clients[0];
    const can: [unknown, string, () => unknown][] = [
      [traits.units !== 'exclusive', 'rwLock', () => locks.rwLock(key)],
      [traits.units === 'counted', 'semaphore', () => locks.semaphore(key, { permits: 3 })],
      [inspect, 'inspect', () => locks.inspect()],
      [inspect && evict, 'forceRelease', () => locks.forceRelease(scene.key, { reason: 'none' })],
    ];
    for (const [able, what, call] of can) await (able ? call() : fails(call, 'LOCK_UNSUPPORTED', what));
  }),
];

async function refusesAll(scene: Scene, calls: Readonly<Record<string, Call>>): Promise<void> {
  const sent: string[] = [];
  const listen = (name: string) => (): never => {
    sent.push(name);
    throw new Error('nothing may be sent');
  };
  const names = ['attempt', 'renew', 'release', 'watch', 'inspect', 'evict'] as const;
  const deaf = Object.fromEntries(names.map((name) => [name, listen(name)])) as Partial<Backend>;
  const locks = await scene.locks({}, around(await scene.another(), deaf));
  for (const [what, call] of Object.entries(calls)) {
    await fails(() => call(locks), 'LOCK_INVALID', what);
    assert.deepEqual(sent, [], `sent for ${what}`);
  }
}
