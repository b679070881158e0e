import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import Redlock from 'redlock';
import { ATTEMPT, RELEASE } from '../../src/backends/redis/scripts.generated.ts';
import { attemptArgs, releaseArgs } from '../../src/backends/redis/wire.ts';
import { redlock } from '../../src/backends/redlock/index.ts';
import { HOST } from '../../test/kit/net.ts';
import type { Contestant, Contestants, Place } from '../contestant.ts';
import { holdfast } from './holdfast.ts';
import { COMPARE_AND_DELETE, LAST_MOMENT, REMEMBER, TOKEN } from './redis.ts';

const TTL = 30_000;
/** Of the poll that stands for what anyone would write, less or more by half, so that votes are not split for ever. ms. */
const POLL = 5;

/** `place.url` is the ports. */
function connect({ url }: Place, options: RedisOptions = {}): Redis[] {
  return url.split(',').map((port) => {
    const client = new Redis({ host: HOST, port: Number(port), ...options });
    client.on('error', () => {});
    return client;
  });
}

const gathering = (place: Place): Redis[] => connect(place, { enableAutoPipelining: true });

/** Settled when three of five say yes, or three no longer can. */
function majority(votes: readonly Promise<boolean>[]): Promise<boolean> {
  return new Promise((resolve) => {
    let yes = 0;
    let no = 0;
    const count = (vote: boolean): void => {
      if (vote ? ++yes === 3 : ++no === 3) resolve(vote);
    };
    for (const vote of votes) vote.then(count, () => count(false));
  });
}

/** The floor: the pair of commands at all five at once, without waiting for more than three. */
async function bare(place: Place, clients: Redis[] = connect(place)): Promise<Contestant> {
  for (const client of clients) client.defineCommand('giveBack', { numberOfKeys: 1, lua: COMPARE_AND_DELETE });
  const free = (key: string, value: string): Promise<boolean> =>
    majority(
      clients.map((client) =>
        (client as Redis & { giveBack(key: string, value: string): Promise<unknown> })
          .giveBack(key, value)
          .then(() => true),
      ),
    );
  return {
    lock: (key) => async () => {
      for (;;) {
        const value = randomUUID();
        if (
          await majority(clients.map((client) => client.set(key, value, 'PX', TTL, 'NX').then((ok) => ok === 'OK')))
        ) {
          return () => free(key, value);
        }
        void free(key, value);
        await sleep(POLL * (0.5 + Math.random()));
      }
    },
  };
}

/** Runs a script that its server knows: by its text the first time, as those who are stopped would keep a SCRIPT LOAD waiting. */
function known(text: string) {
  const sha1 = createHash('sha1').update(text).digest('hex');
  return (client: Redis, key: string, args: readonly (string | number)[]): Promise<boolean> =>
    client.evalsha(sha1, 1, key, ...args).then(
      () => true,
      () => client.eval(text, 1, key, ...args).then(() => true),
    );
}

interface Pair {
  readonly take: string;
  readonly free: string;
  asked(key: string, id: string): readonly (string | number)[];
  freed(id: string): readonly string[];
}

const OURS: Pair = {
  take: ATTEMPT.text,
  free: RELEASE.text,
  asked(key, id) {
    const claim = { key, id, units: 1, capacity: 1, ttl: TTL, queue: false, tokenCount: 1, within: TTL, label: '' };
    return attemptArgs(claim, '-', LAST_MOMENT, REMEMBER);
  },
  freed: (id) => releaseArgs(id, REMEMBER),
};

/** How near to the floor any lock with a token can come. */
const LEAST: Pair = { take: TOKEN, free: COMPARE_AND_DELETE, asked: (_, id) => [id, TTL], freed: (id) => [id] };

/** Two scripts at all five at once, with nothing of ours around them. For one caller: it does not wait. */
function scripts(place: Place, { take, free, asked, freed }: Pair): Contestant {
  const clients = connect(place);
  const [taking, freeing] = [known(take), known(free)];
  const ask = (run: typeof taking, key: string, args: readonly (string | number)[]): Promise<boolean> =>
    majority(clients.map((client) => run(client, key, args)));
  return {
    lock: (key) => async () => {
      const id = randomUUID();
      await ask(taking, key, asked(key, id));
      return () => ask(freeing, key, freed(id));
    },
  };
}

function peer(place: Place): Contestant {
  const locks = new Redlock(connect(place), { retryCount: -1 });
  locks.on('error', () => {}); // it tells of every refusal
  return {
    lock: (key) => async () => {
      const lock = await locks.acquire([key], TTL);
      return () => lock.release();
    },
  };
}

/** Under the lock it reads a counter of another Redis and writes one more, which all callers share. */
async function counting(place: Place, contestant: Contestant): Promise<Contestant> {
  const counter = new Redis({ host: HOST, port: place.port });
  const name = `counter:${place.run}`;
  return { ...contestant, section: async () => counter.set(name, Number(await counter.get(name)) + 1) };
}

export default {
  holdfast: (place) => holdfast(redlock(connect(place))),
  'holdfast, autopipelining': (place) => holdfast(redlock(gathering(place))),
  bare: (place) => bare(place),
  'bare, autopipelining': (place) => bare(place, gathering(place)),
  scripts: (place) => scripts(place, OURS),
  token: (place) => scripts(place, LEAST),
  redlock: peer,
  'holdfast, counter': (place) => counting(place, holdfast(redlock(connect(place)))),
  'holdfast, counter, no hand-off': (place) => counting(place, holdfast(redlock(connect(place)), { handOff: false })),
  'bare, counter': async (place) => counting(place, await bare(place)),
} satisfies Contestants;
