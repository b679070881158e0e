import assert from 'node:assert/strict';
import {
  listOf,
  type RegisterEntry,
  type RegisterStore,
  readEntry,
  systemClock,
  type WriteOutcome,
  writeOutcome,
} from '../../src/core/index.ts';
import { limited } from './limited.ts';

/**
 * A law of `RegisterStore` for one store, for any test runner: `run` rejects when the store breaks the law.
 * @example for (const { name, run } of storeLaws(async () => table(db))) test(name, () => run());
 */
export interface StoreCase {
  /** The law, as a title of a test. */
  readonly name: string;
  /** Rejects when the store breaks the law, or after 30 s. */
  run(): Promise<void>;
}

type Check = (stores: readonly [RegisterStore, RegisterStore], key: string) => Promise<void>;

const MAX_CASE_MS = 30_000;
const RIVALS = 8;
const STRANGE = '{"é":"漢🔒\\u0000\\n"}'.padEnd(64_000, ' ~');

const signal = (): AbortSignal => new AbortController().signal;
const read = async (store: RegisterStore, key: string): Promise<RegisterEntry> =>
  readEntry(await store.read(key, signal()), store);
const write = async (store: RegisterStore, key: string, text: string, ifVersion?: string): Promise<WriteOutcome> =>
  writeOutcome(await store.write(key, text, ifVersion, signal()), store);

async function writes(store: RegisterStore, key: string, text: string, ifVersion?: string): Promise<string> {
  const { taken, version: written } = await write(store, key, text, ifVersion);
  assert.ok(taken, `a write of ${key} is taken, for it has the version that is there`);
  const { text: there, version } = await read(store, key);
  assert.equal(there, text, 'what was written is read');
  if (written !== undefined) assert.equal(version, written, 'the version that the write returned');
  return version ?? assert.fail('what is there has a version');
}

async function refuses(store: RegisterStore, key: string, ifVersion: string | undefined): Promise<void> {
  const before = await read(store, key);
  const { taken, found } = await write(store, key, 'refused', ifVersion);
  assert.ok(!taken, `a write of ${key} went over what was there; two processes would both hold`);
  if (found) assert.equal(found.version, before.version, 'a refusal returns what is there');
  assert.deepEqual([(await read(store, key)).text], [before.text], 'what is refused changes nothing');
}

const LAWS: Readonly<Record<string, Check>> = {
  'nothing is under a new key': async ([store], key) => {
    assert.equal((await read(store, key)).text, undefined);
  },
  'a write that wants nothing to be there is taken once': async ([one, other], key) => {
    await writes(one, key, 'first');
    await refuses(one, key, undefined);
    await refuses(other, key, undefined);
  },
  'a write is taken with the version that is there, and with no other': async ([one, other], key) => {
    const first = await writes(one, key, 'first');
    const second = await writes(other, key, 'second', first);
    assert.notEqual(second, first, 'each write makes another version');
    await refuses(one, key, first);
    await refuses(other, key, first);
  },
  'a write says whether it was taken, in one of the ways of the contract': async ([store], key) => {
    const { version = (await read(store, key)).version } = await write(store, key, 'made');
    await write(store, key, 'over what is there');
    await write(store, key, 'changed', version);
    await write(store, key, 'over a version that is gone', version);
    await write(store, `${key}-elsewhere`, 'over nothing', version);
  },
  'a write with a version is refused where nothing is': async ([one, other], key) => {
    const version = await writes(one, key, 'here');
    await refuses(other, `${key}-elsewhere`, version);
  },
  'of writes at the same time one is taken': async (stores, key) => {
    for (const ifVersion of [undefined, await writes(stores[0], `${key}-old`, 'old')]) {
      const name = ifVersion === undefined ? key : `${key}-old`;
      const rivals = Array.from({ length: RIVALS }, (_, n) => write(stores[n % 2]!, name, `rival ${n}`, ifVersion));
      const taken = (await Promise.all(rivals)).filter((each) => each.taken);
      assert.equal(taken.length, 1, `of ${RIVALS} writes at once, with the version ${ifVersion}`);
    }
  },
  'a text comes back as it was: characters of all kinds, 64 kB of them': async ([store], key) => {
    await writes(store, key, STRANGE);
  },
  'keys that are alike do not meet': async ([store], key) => {
    const ends = ['', '=2f', '/a', '/b', '.', '_', '-', 'A', 'a', 'x'.repeat(500)];
    const keys = ends.map((end) => `${key}${end || '-'}${end}`);
    for (const each of keys) await writes(store, each, each);
    for (const each of keys) assert.equal((await read(store, each)).text, each);
    if (!store.list) return;
    const listed = await listOf(store.list(key));
    assert.deepEqual(listed.sort(), [...keys].sort(), 'the list of what begins with a prefix');
  },
  'a watch is notified of a write by another': async ([one, other], key) => {
    if (!one.watch) return;
    const version = await writes(other, key, 'before');
    const notified = Promise.withResolvers<void>();
    await using _ = await one.watch(key, (entry) => {
      if (!entry || entry.text === 'after') notified.resolve();
    });
    await writes(other, key, 'after', version);
    await limited(notified.promise, MAX_CASE_MS / 2, 'the watch was not notified of a write', systemClock);
  },
  'what is removed is gone': async ([one, other], key) => {
    if (!one.remove) return;
    await writes(one, key, 'here');
    await one.remove(key);
    assert.equal((await read(other, key)).text, undefined);
  },
  'what was removed and made again has another version': async ([one, other], key) => {
    const first = await writes(one, key, 'the first');
    // A store without `remove` is tested with two keys, because an operator may remove idle keys in another way.
    const name = one.remove ? key : `${key}-other`;
    await one.remove?.(key);
    const second = await writes(other, name, 'the second');
    const why = 'the version of what was removed has come again; a process that remembers it would write over a hold';
    assert.notEqual(second, first, why);
  },
  'each read says the time, which does not go back': async ([one, other], key) => {
    if (!one.tellsTime) return;
    let last = Number.NEGATIVE_INFINITY;
    for (const store of [one, other, one]) {
      const { now } = await read(store, key);
      assert.ok(typeof now === 'number' && now >= last, `the time is ${now}, after ${last}`);
      last = now;
    }
  },
};

/**
 * The laws that a store must keep for `register`, as cases for any test runner.
 * @param open opens a new client, as another process would
 * @example for (const { name, run } of storeLaws(async () => table(db))) test(name, run);
 */
export function storeLaws(open: () => Promise<RegisterStore>): StoreCase[] {
  return Object.entries(LAWS).map(([name, check]) => ({
    name,
    async run() {
      const stores = [await open(), await open()] as const;
      const key = `holdfast/laws/${systemClock.id()}`;
      const late = `"${name}" has not ended after ${MAX_CASE_MS} ms`;
      try {
        await limited(check(stores, key), MAX_CASE_MS, late, systemClock);
      } finally {
        for (const { close } of stores) await close?.();
      }
    },
  }));
}
