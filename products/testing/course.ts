import assert from 'node:assert/strict';
import { type Claim, SHARED, type ValueCondition } from '../../src/core/index.ts';
import { type Law, law, type Need } from './case.ts';
import type { Participant, Watching } from './participant.ts';
import type { Scene } from './scene.ts';

/** The condition of a claim that any value answers. */
export const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
/** How long a value lasts: a time that engines can also count in seconds. */
export const VALUE_TTL_MS = 3_600_000;

/** What a word in a claim's name means. Without these words, a claim is exclusive, waits in the queue and lasts longer than the case. */
const KINDS: Readonly<Record<string, (scene: Scene) => Partial<Claim>>> = {
  reader: () => SHARED,
  passing: () => ({ queue: false }),
  brief: ({ ttl }) => ({ ttl }),
  asking: () => ({ accepts: ANY }),
  /** A claim that asks for a value, and that no value answers. */
  fresh: () => ({ accepts: { ...ANY, age: -1 } }),
};

type Step = (claim: Participant, play: Play, other?: string) => Promise<unknown>;

/** Releases the claim, and stores its name as the value. */
async function stores(claim: Participant, { claims }: Play, ttl = VALUE_TTL_MS): Promise<boolean> {
  const [text] = [...claims].find(([, each]) => each === claim)!;
  return claim.store({ text, ttl });
}

/** The only step that names a second claim. */
const ANSWERED = 'is answered by';

/** What a claim does, or what must happen to it. */
const STEPS: Readonly<Record<string, Step>> = {
  gets: (claim) => claim.gets(),
  'gets the same token': async (claim) => {
    const before = claim.token;
    assert.equal((await claim.gets()).token, before, 'the same id, asked again, must have the same token');
  },
  waits: (claim) => claim.waits(),
  leaves: (claim) => claim.leaves(),
  'has nothing': (claim) => claim.hasNothing(),
  'is gone': (claim) => claim.isGone(),
  renews: (claim) => claim.renews(),
  'renews for long': (claim, { scene }) => claim.renews(scene.ttl * 20),
  'renews for a moment': (claim, { scene }) => claim.renews(scene.ttl),
  'is evicted': async ({ claim, token }, { scene }) =>
    assert.equal(await scene.clients[1].evict!(claim.key, token), true, 'somebody has that token'),
  listens: async (claim, { scene, watches }) => watches.set(claim, await scene.watch(claim)),
  'is notified and gets': (claim, { watches }) => watches.get(claim)!.isAdmitted(),
  'stops listening': (claim, { watches }) => watches.get(claim)![Symbol.asyncDispose](),
  'is not notified': async (claim, { scene, watches }) => {
    await scene.pass(scene.tolerance);
    assert.ok(watches.get(claim)!.silent, `${claim} was woken after it had stopped listening`);
  },
  stores: async (claim, play) => assert.ok(await stores(claim, play), `${claim} held the key`),
  'stores for a moment': async (claim, play) =>
    assert.ok(await stores(claim, play, play.scene.ttl), `${claim} held the key`),
  'cannot store': async (claim, play) => assert.ok(!(await stores(claim, play)), `${claim} does not hold the key`),
  [ANSWERED]: async (claim, { claims }, other) => {
    const { value } = await claim.waits();
    const { token } = claims.get(other!)!;
    assert.deepEqual([value?.text, value?.token], [other, token], `what ${claim} is answered by`);
  },
};

/** Steps without a claim. */
const EVENTS: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'time passes': (scene) => scene.expired(),
  'nothing is stored': async ({ clients, key }) =>
    assert.equal((await clients[1].values!.look(key)).value, undefined, 'what the key has'),
};

interface Play {
  readonly scene: Scene;
  readonly claims: Map<string, Participant>;
  readonly watches: Map<Participant, Watching>;
}

const PHRASE = new RegExp(`^(.+?) (${Object.keys(STEPS).toSorted().reverse().join('|')})(?: (.+))?$`);

/** @throws if `text` is no step */
function act(text: string): (play: Play) => Promise<unknown> {
  const event = EVENTS[text];
  if (event) return ({ scene }) => event(scene);
  const [, name = '', step = '', other] = PHRASE.exec(text) ?? [];
  if (!step || (other === undefined) === (step === ANSWERED)) throw new Error(`no step of a course: ${text}`);
  return (play) => {
    const { claims, scene } = play;
    let wish: Partial<Claim> = {};
    for (const word of name.split(' ')) wish = { ...wish, ...KINDS[word]?.(scene) };
    const claim = claims.get(name) ?? scene.participant(wish);
    claims.set(name, claim);
    return STEPS[step]!(claim, play, other);
  };
}

/**
 * Makes a law of each course: steps in words, with commas between them. A step names a claim, and what the claim does. A new name
 * makes a new claim; the two clients take turns.
 */
export function courses(needs: readonly Need[], laws: Readonly<Record<string, string>>): Law[] {
  return Object.entries(laws).map(([name, course]) => {
    const steps = course.trim().split(/,\s+/);
    const acts = steps.map(act);
    return law(name, needs, async (scene) => {
      const play: Play = { scene, claims: new Map(), watches: new Map() };
      try {
        for (const [at, act] of acts.entries()) {
          await act(play).catch((cause: Error) => {
            const where = `"${steps[at]}", step ${at + 1} of: ${steps.join(', ')}`;
            throw new Error(`${cause.message}\nat ${where}`, { cause });
          });
        }
      } finally {
        for (const watching of play.watches.values()) await watching[Symbol.asyncDispose]();
      }
    });
  });
}
