import { posix } from 'node:path';
import { around } from '../../products/testing/around.ts';
import { manualClock, type Subject } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { ALL_UNITS, EXCLUSIVE } from '../../src/core/contract/admission.ts';
import type { Backend, Claim, Grant, Handle, QueueEntry } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import { MAX_DURATION_MS } from '../../src/core/contract/duration.ts';

const TOLD_OF_EVICTION =
  'an evicted holder is told long before its next renewal, and by whom and why where there are hints';

/** The memory backend with one law broken. */
export interface Mutant {
  readonly bug: string;
  /** A case that must find it. */
  readonly foundBy: string;
  readonly plant: (sound: Backend, clock: Clock) => Partial<Backend>;
}

export function subjectOf({ bug, plant }: Mutant): Subject {
  const clock = manualClock();
  const sound = memory({ clock });
  const mutant = around(sound, plant(sound, clock));
  return {
    name: `memory that ${bug}`,
    open: async () => mutant,
    clock,
    faults: { stall: async () => async () => {} },
    seed: 1,
  };
}

async function line(sound: Backend, key: string): Promise<QueueEntry[]> {
  const standings: QueueEntry[] = [];
  for await (const standing of sound.inspect!(key)) if (standing.key === key) standings.push(standing);
  return standings;
}

/** Every call with its key changed, as an engine would that stores it carelessly. */
const storesKeys =
  (as: (key: string) => string) =>
  (sound: Backend): Partial<Backend> => {
    const stored = <T extends Handle>(handle: T): T => ({ ...handle, key: as(handle.key) });
    return {
      attempt: (claim) => sound.attempt(stored(claim)),
      renew: (claims) => sound.renew(claims.map(stored)),
      release: (handle, next) => sound.release(stored(handle), next && stored(next)),
      store: (handle, value) => sound.store!(stored(handle), value),
    };
  };

const attemptsAs =
  (change: (claim: Claim) => Partial<Claim>) =>
  (sound: Backend): Partial<Backend> => ({ attempt: (claim) => sound.attempt({ ...claim, ...change(claim) }) });

const shows =
  (change: (standing: QueueEntry) => QueueEntry) =>
  (sound: Backend): Partial<Backend> => ({
    async *inspect(prefix) {
      for await (const standing of sound.inspect!(prefix)) yield change(standing);
    },
  });

export const MUTANTS: readonly Mutant[] = [
  {
    bug: 'lets an attempt again shorten what was renewed',
    foundBy: 'an expiry never moves backwards: an attempt again leaves a hold what a renewal has confirmed',
    plant: (sound) => ({
      async attempt(claim) {
        const answer = await sound.attempt(claim);
        if (answer.granted) await sound.renew([claim]);
        return answer;
      },
    }),
  },
  {
    bug: 'releases whoever holds',
    foundBy: 'a second release frees nothing, least of all the next holder',
    plant: (sound) => ({
      async release({ key }, next) {
        const [head] = await line(sound, key);
        const freed = head !== undefined && (await sound.evict!(key, head.token));
        return { freed, next: next && (await sound.attempt(next)) };
      },
    }),
  },
  {
    bug: 'says of every release that it freed something',
    foundBy: 'the release of an unknown id frees nothing',
    plant: (sound) => ({ release: async (handle, next) => ({ ...(await sound.release(handle, next)), freed: true }) }),
  },
  {
    bug: 'forgets the next claim of a release, and says it was refused',
    foundBy: 'a release hands a free key to its next claim',
    plant: (sound) => ({
      release: async (handle, next) => ({ ...(await sound.release(handle)), next: next && { granted: false } }),
    }),
  },
  {
    bug: 'lets the next claim of a release in before those who wait',
    foundBy: 'the next claim of a release stands behind those who wait',
    plant: (sound) => ({
      async release(handle, next) {
        const answer = await sound.release(handle);
        if (!next) return answer;
        const waiting = await line(sound, handle.key);
        for (const { token } of waiting) await sound.evict!(handle.key, token);
        return { ...answer, next: await sound.attempt(next) };
      },
    }),
  },
  {
    bug: 'revives with a renewal',
    foundBy: 'renew never revives a released hold',
    plant: (sound) => ({
      async renew(claims) {
        for (const claim of claims) await sound.attempt(claim);
        return sound.renew(claims);
      },
    }),
  },
  {
    bug: 'answers renewals in another order',
    foundBy: 'renew answers every claim, in order',
    plant: (sound) => ({
      renew: async (claims) => (await sound.renew(claims)).sort((one) => (one === 'gone' ? -1 : 1)),
    }),
  },
  {
    bug: 'leaves out of its answers what is gone',
    foundBy: 'renew answers every claim, in order',
    plant: (sound) => ({ renew: async (claims) => (await sound.renew(claims)).filter((answer) => answer !== 'gone') }),
  },
  {
    bug: 'only ever lengthens a lease',
    foundBy: 'renew may shorten a lease',
    plant: (sound) => ({
      renew: (claims) => sound.renew(claims.map((claim) => ({ ...claim, ttl: Math.max(claim.ttl, 60_000) }))),
    }),
  },
  {
    bug: 'never lets a hold expire',
    foundBy: 'a hold expires, and a renewal does not bring it back',
    plant: attemptsAs(({ ttl }) => ({ ttl: ttl * 1_000 })),
  },
  {
    bug: 'lets a hold expire early',
    foundBy: 'repeated attempts keep a hold and a place alive past their ttl',
    plant: attemptsAs(({ ttl }) => ({ ttl: ttl / 10 })),
  },
  {
    bug: 'keeps a place for those who did not ask for one',
    foundBy: 'a refusal without queue leaves nothing behind',
    plant: attemptsAs(() => ({ queue: true })),
  },
  {
    bug: 'keeps no place for those who asked for one',
    foundBy: 'claims are admitted in the order they came, with growing tokens',
    plant: attemptsAs(() => ({ queue: false })),
  },
  {
    bug: 'sends a waiter to the end of the line for asking again',
    foundBy: 'a repeated attempt keeps its place in line',
    plant: (sound) => ({
      async attempt(claim) {
        const answer = await sound.attempt(claim);
        if (answer.granted || !claim.queue) return answer;
        await sound.release(claim);
        return sound.attempt(claim);
      },
    }),
  },
  {
    bug: 'gives a new token for asking again',
    foundBy: 'a repeated attempt keeps its token',
    plant: (sound) => {
      let asked = 0n;
      return {
        async attempt(claim) {
          const answer = await sound.attempt(claim);
          return answer.granted ? { ...answer, token: answer.token + ++asked } : answer;
        },
      };
    },
  },
  {
    bug: 'counts tokens from one again when the line was empty',
    foundBy: 'tokens grow over a release, even of an idle key',
    plant: (sound) => ({
      async attempt(claim) {
        const answer = await sound.attempt(claim);
        return answer.granted && (await line(sound, claim.key)).length === 1 ? { ...answer, token: 1n } : answer;
      },
    }),
  },
  {
    bug: 'reserves one token whatever the tokenCount',
    foundBy: 'a tokenCount reserves its tokens: the next claim begins above them',
    plant: attemptsAs(() => ({ tokenCount: 1 })),
  },
  {
    bug: 'takes no notice of the proposed token',
    foundBy: 'a token is never below the one that was proposed',
    plant: attemptsAs(() => ({ minToken: undefined })),
  },
  {
    bug: 'counts a permit of several units as one',
    foundBy: 'permits are granted while their units fit, and no further',
    plant: attemptsAs(({ units, capacity }) => ({ units: units === capacity ? units : 1 })),
  },
  {
    bug: 'looks only at the room of the one who asks',
    foundBy: 'kinds mixed on one key exclude each other by their demand',
    plant: attemptsAs(({ units, capacity }) => (units === capacity ? {} : { capacity: ALL_UNITS })),
  },
  {
    bug: 'treats readers as writers',
    foundBy: 'readers share, and keep a writer out to the last',
    plant: attemptsAs(() => EXCLUSIVE),
  },
  {
    bug: 'treats writers as readers',
    foundBy: 'an exclusive hold keeps out every client, its own too',
    plant: attemptsAs(() => ({ units: 1 })),
  },
  {
    bug: 'wakes nobody',
    foundBy: 'a release wakes the next in line',
    plant: () => ({ watch: async () => ({ async [Symbol.asyncDispose]() {} }) }),
  },
  {
    bug: 'forgets what came before the watch',
    foundBy: 'an admission between the attempt and the watch reaches the waiter',
    plant: (sound) => ({ traits: { ...sound.traits, wakes: 'buffered' } }),
  },
  {
    bug: 'arms a watch a little after it said so',
    foundBy: 'an admission that races the arming is notified, or found by the attempt that follows',
    plant: (sound, clock) => ({
      async watch(claim, wake, age) {
        const armed = new Promise<AsyncDisposable>((resolve) => {
          clock.after(5, () => resolve(sound.watch!(claim, wake, age)));
        });
        return { [Symbol.asyncDispose]: async () => (await armed)[Symbol.asyncDispose]() };
      },
    }),
  },
  {
    bug: 'wakes one when it admits several',
    foundBy: 'a release that admits several wakes them all',
    plant: (sound) => {
      const woken = new Set<string>();
      return {
        watch: (claim, wake, age) =>
          sound.watch!(
            claim,
            (grant) => {
              if (!woken.has(claim.key)) wake(grant);
              woken.add(claim.key);
            },
            age,
          ),
      };
    },
  },
  {
    bug: 'tells a waiter of a token that is not its own',
    foundBy: 'a release wakes the next in line',
    plant: (sound) => ({
      watch: (claim, wake, age) =>
        sound.watch!(claim, (grant?: Grant) => wake(grant && { ...grant, token: grant.token + 1n }), age),
    }),
  },
  {
    bug: 'goes on waking after the watch was disposed of',
    foundBy: 'a watch that was disposed of is silent',
    plant: (sound) => ({
      async watch(claim, wake, age) {
        await sound.watch!(claim, wake, age);
        return { async [Symbol.asyncDispose]() {} };
      },
    }),
  },
  {
    bug: 'shows ids',
    foundBy: 'inspect never shows an id: a process that knows one may release',
    plant: (sound) => {
      const ids = new Map<string, string>();
      return {
        attempt(claim) {
          ids.set(claim.label, claim.id);
          return sound.attempt(claim);
        },
        ...shows((standing) => ({ ...standing, owner: ids.get(standing.label) }))(sound),
      };
    },
  },
  {
    bug: 'shows everyone as a holder',
    foundBy: 'inspect shows who holds and who waits, in the order of the line',
    plant: shows((standing) => ({ ...standing, held: true })),
  },
  {
    bug: 'takes the prefix of inspect for a pattern',
    foundBy: 'inspect takes its prefix as it stands, and gives keys back as they were',
    plant: (sound) => ({
      async *inspect(prefix) {
        const [start = '', ...rest] = prefix.split('*');
        for await (const standing of sound.inspect!(start)) {
          if (rest.every((part) => standing.key.slice(start.length).includes(part))) yield standing;
        }
      },
    }),
  },
  {
    bug: 'evicts the holder whatever the token',
    foundBy: 'a forced release frees the hold with that token, and no other',
    plant: (sound) => ({
      async evict(key) {
        const [head] = await line(sound, key);
        return head !== undefined && sound.evict!(key, head.token);
      },
    }),
  },
  {
    bug: 'evicts all readers for one',
    foundBy: 'a forced release of one reader leaves the others in',
    plant: (sound) => ({
      async evict(key, token) {
        const found = await sound.evict!(key, token);
        if (found) for (const { token: other } of await line(sound, key)) await sound.evict!(key, other);
        return found;
      },
    }),
  },
  {
    bug: 'closes for everyone',
    foundBy: 'a client that closes, even twice, disturbs no other',
    plant: (sound) => ({
      async close() {
        for await (const { key, token } of sound.inspect!('')) await sound.evict!(key, token);
      },
    }),
  },
  {
    bug: 'folds the case of keys',
    foundBy: 'different keys never meet: case and accents',
    plant: storesKeys((key) => key.toLowerCase()),
  },
  {
    bug: 'normalises keys',
    foundBy: 'different keys never meet: Unicode forms',
    plant: storesKeys((key) => key.normalize('NFC')),
  },
  {
    bug: 'pads keys with spaces',
    foundBy: 'different keys never meet: white space',
    plant: storesKeys((key) => key.replace(/ +$/, '')),
  },
  {
    bug: 'ends keys at a NUL',
    foundBy: 'different keys never meet: NUL and control characters',
    plant: storesKeys((key) => key.replace(/\0.*/s, '')),
  },
  {
    bug: 'takes keys for paths',
    foundBy: 'different keys never meet: paths',
    plant: storesKeys((key) => posix.normalize(key)),
  },
  {
    bug: 'writes a slash as %2F and leaves % as it is',
    foundBy: 'different keys never meet: encodings',
    plant: storesKeys((key) => key.replaceAll('/', '%2F')),
  },
  {
    bug: 'locks by hash tag',
    foundBy: 'different keys never meet: patterns and braces',
    plant: storesKeys((key) => /\{([^}]+)\}/.exec(key)?.[1] ?? key),
  },
  {
    bug: 'cuts keys at 255 characters',
    foundBy: 'different keys never meet: the longest there may be',
    plant: storesKeys((key) => key.slice(0, 255)),
  },
  {
    bug: 'loses both of two notes that are written at once',
    foundBy: 'of two hints that are written at once under one name one stays',
    plant: ({ hints }) => {
      const writing = new Map<string, number>();
      return {
        hints: {
          read: hints!.read,
          async write(name, text, ttl) {
            writing.set(name, (writing.get(name) ?? 0) + 1);
            await hints!.write(name, text, ttl);
            if (writing.get(name)! > 1) await hints!.write(name, undefined, 0);
            writing.set(name, writing.get(name)! - 1);
          },
        },
      };
    },
  },
  {
    bug: 'removes a note before it writes it anew',
    foundBy: 'a hint is there all the while it is written again',
    plant: ({ hints }) => ({
      hints: {
        read: hints!.read,
        async write(name, text, ttl) {
          await hints!.write(name, undefined, 0);
          await undefined;
          await hints!.write(name, text, ttl);
        },
      },
    }),
  },
  {
    bug: 'brings an earlier note back when a later one is over',
    foundBy: 'a hint is there for the other client, until it is written again, forgotten, or over',
    plant: ({ hints }) => {
      const earlier = new Map<string, string>();
      return {
        hints: {
          read: async (name) => (await hints!.read(name)) ?? earlier.get(name),
          async write(name, text, ttl) {
            const before = await hints!.read(name);
            if (before === undefined || text === undefined) earlier.delete(name);
            else earlier.set(name, before);
            await hints!.write(name, text, ttl);
          },
        },
      };
    },
  },
  {
    bug: 'lets everyone in',
    foundBy: '10 callers in two processes lose no update of one counter',
    plant: attemptsAs(({ capacity }) => ({ units: 1, capacity: Math.max(capacity, 1_000) })),
  },
  {
    bug: 'lets one too many in',
    foundBy: 'a semaphore lets in what fits, and never more',
    plant: attemptsAs(({ units, capacity }) => (units === capacity ? {} : { capacity: capacity + 1 })),
  },
  {
    bug: 'says of every hold that it was renewed',
    foundBy: 'a forced release lets the next in with a higher token, and the robbed holder is told',
    plant: () => ({ renew: async (claims) => claims.map(({ ttl }) => ({ validFor: ttl })) }),
  },
  {
    bug: 'renews nothing',
    foundBy: 'renewed in the background, a hold outlives three ttls with the token it had',
    plant: () => ({ renew: async (claims) => claims.map(() => 'unknown' as const) }),
  },
  {
    bug: 'promises twice the lease it gives',
    foundBy: 'nobody else is in before the time is over that a grant or a renewal promised',
    plant: (sound) => ({
      async attempt(claim) {
        const answer = await sound.attempt(claim);
        return answer.granted ? { ...answer, validFor: answer.validFor * 2 } : answer;
      },
    }),
  },
  {
    bug: 'promises more with a renewal than it gives',
    foundBy: 'nobody else is in before the time is over that a grant or a renewal promised',
    plant: (sound) => ({
      async renew(claims) {
        await sound.renew(claims);
        return claims.map(({ ttl }) => ({ validFor: ttl * 1.2 }));
      },
    }),
  },
  {
    bug: 'says that it freed what it keeps',
    foundBy: 'a lease in a using block is released at its end',
    plant: () => ({ release: async () => ({ freed: true }) }),
  },
  {
    bug: 'cannot tell one grant from another with the same id',
    foundBy: 'a grant whose reply is lost is found again, and held once',
    plant: (sound) => {
      let sent = 0;
      return { attempt: (claim) => sound.attempt({ ...claim, id: `${claim.id}/${++sent}` }) };
    },
  },
  {
    bug: 'serves the last first',
    foundBy: 'waiters of several processes are served in the order they came',
    plant: (sound) => {
      const waiting = new Map<string, Claim>();
      return {
        async attempt(claim) {
          const latest = waiting.get(claim.key);
          const overtakes = claim.queue && (latest === undefined || latest.id === claim.id);
          if (claim.queue) waiting.set(claim.key, latest?.id === claim.id ? latest : claim);
          return overtakes || !claim.queue ? sound.attempt({ ...claim, queue: false }) : { granted: false };
        },
      };
    },
  },
  {
    bug: 'serves the newest first, and the oldest never while others ask',
    foundBy: 'nobody starves among 4 clients that ask without pause',
    plant: (sound) => {
      const waiting: string[] = [];
      const forget = (id: string): void => {
        if (waiting.includes(id)) waiting.splice(waiting.indexOf(id), 1);
      };
      return {
        async attempt(claim) {
          if (!waiting.includes(claim.id)) waiting.push(claim.id);
          if (waiting.at(-1) !== claim.id) return { granted: false };
          const answer = await sound.attempt({ ...claim, queue: false });
          if (answer.granted) forget(claim.id);
          return answer;
        },
        release(handle, next) {
          forget(handle.id);
          return sound.release(handle, next);
        },
      };
    },
  },
  {
    bug: 'cannot be closed while its engine is silent',
    foundBy: 'an engine that says nothing keeps nobody waiting for long, for any question, nor does closing',
    plant: () => ({ close: () => new Promise(() => {}) }),
  },
  {
    bug: 'leaves the words of whoever asks',
    foundBy: 'only a hold leaves words: no stranger, no waiter, no former holder',
    plant: (sound) => ({
      async store(handle, value) {
        if (await sound.store!(handle, value)) return true;
        await sound.attempt(claimOf(handle));
        return sound.store!(handle, value);
      },
    }),
  },
  {
    bug: 'forgets words when a later hold ends without any',
    foundBy: 'a plain release and an eviction leave the words as they were',
    plant: (sound) => ({
      async release(handle, next) {
        const released = await sound.release(handle, next);
        if (released.freed) await sound.values!.forget(handle.key);
        return released;
      },
    }),
  },
  {
    bug: 'answers with words that are too old',
    foundBy: 'words older than a claim asks for do not answer it, and stay for others',
    plant: attemptsAs(({ accepts }) => (accepts ? { accepts: { ...accepts, age: MAX_DURATION_MS } } : {})),
  },
  {
    bug: 'counts an attempt again as another try',
    foundBy: 'attempts count the holds that left no words, each once, until words are left',
    plant: (sound) => {
      let asked = 0;
      return {
        async attempt(claim) {
          const answer = await sound.attempt(claim);
          return answer.granted && answer.attempts !== undefined ? { ...answer, attempts: ++asked } : answer;
        },
      };
    },
  },
  {
    bug: 'keeps the place of a claim that it answers',
    foundBy: 'one release with words answers every waiter, and leaves no place of any',
    plant: (sound) => ({
      async attempt(claim) {
        const answer = await sound.attempt(claim);
        if (!answer.granted && answer.value) await sound.attempt({ ...claim, accepts: undefined });
        return answer;
      },
    }),
  },
  {
    bug: 'tells nobody of words',
    foundBy: 'a release with words wakes the waiters',
    plant: () => ({ watch: () => ({ [Symbol.asyncDispose]: async () => {} }) }),
  },
  {
    bug: 'tells no holder of its eviction',
    foundBy: TOLD_OF_EVICTION,
    plant: () => ({ watchHold: () => ({ [Symbol.asyncDispose]: async () => {} }) }),
  },
  {
    bug: 'forgets an eviction that came before the hold was watched',
    foundBy: TOLD_OF_EVICTION,
    plant: (sound) => ({ watchHold: (claim, wake) => sound.watchHold!(claim, wake, Number.NEGATIVE_INFINITY) }),
  },
];

const claimOf = (handle: Handle): Claim => ({
  ...handle,
  ...EXCLUSIVE,
  ttl: 1_000,
  queue: false,
  tokenCount: 1,
  within: 1_000,
  label: '',
});
