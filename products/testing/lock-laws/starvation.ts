import assert from 'node:assert/strict';
import { mostOf } from '../../../src/core/index.ts';
import { type Law, law } from '../case.ts';
import type { Scene } from '../scene.ts';

const CALLERS = 5;
/** Where no queue is kept: several times as long as anybody may wait. */
const LASTS_MS = 1_500;
/** Where a queue is kept: so many turns of each client are seen, unless that takes longer than this time. */
const TURNS_EACH = 5;
const MAX_TURNS_MS = 12_000;
/** While a client waits, each other client has one turn before it; one that it began before; and one, while a claim is on its way to the queue. */
const MAX_TURNS = 3;
/** Where a claim comes to the queue by a race of writes: others have so many turns more before it wins one. */
const RACES = 16;
/** What a client waits at most beside the tenures of all. */
const SLACK_MS = 250;
/** How long a hold may pass from hand to hand inside a client: the default of `handOff.within`. */
const HAND_OFF_MS = 10;

/** One time that a client had the key. ms of a clock that all clients share. */
interface Served {
  readonly client: number;
  readonly begin: number;
  readonly end: number;
}

/** Every caller is served, however busy others are: in turn where the engine keeps a queue, and soon where it does not. */
export const starvation: readonly Law[] = [2, 4].map((clients) =>
  law(`nobody starves among ${clients} clients that ask without pause`, ['turns'], async (scene) => {
    await (scene.clients[0].traits.fair ? inTurn(scene, clients) : soon(scene, clients));
    await scene.isFree();
  }),
);

/** However slow the engine and the machine are: the turns count, and not the time. */
async function inTurn(scene: Scene, clients: number): Promise<void> {
  const races = scene.clients[0].traits.joinsByRace ? RACES : 0;
  const enough = TURNS_EACH * clients + races;
  const { served, from, to } = await ask(scene, clients, MAX_TURNS_MS, (served) => turnsOf(served).length > enough);
  const turns = turnsOf(served);
  const most = MAX_TURNS * (clients - 1) + races;
  for (let client = 0; client < clients; client++) {
    let others = 0;
    for (const turn of turns) {
      others = turn.client === client ? 0 : others + 1;
      assert.ok(others <= most, `others had ${others} turns while client ${client + 1} waited; ${most} is the most`);
    }
  }
  // Where there are only two, their turns alternate, however long one lasts.
  const longest = mostOf(turns.map(({ begin, end }) => end - begin));
  const limit = longestWait(served, 1, from, to).bound + races * timeBetween(turns) + scene.tolerance;
  assert.ok(longest <= limit, `a turn lasted ${Math.round(longest)} ms; ${Math.round(limit)} ms is the most`);
}

/** The holds of one client that no other client had the key between, of all clients in order. */
function turnsOf(served: readonly Served[]): Served[] {
  const turns: Served[] = [];
  for (const hold of inOrder(served)) {
    const last = turns.at(-1);
    if (last?.client === hold.client) turns[turns.length - 1] = { ...last, end: hold.end };
    else turns.push(hold);
  }
  return turns;
}

const inOrder = (served: readonly Served[]): Served[] => served.toSorted((a, b) => a.begin - b.begin);

/** How long it takes to give the key from one client to the next: the median, ms. */
function timeBetween(turns: readonly Served[]): number {
  const times = turns.slice(1).map(({ begin }, at) => Math.max(0, begin - turns[at]!.end));
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

async function soon(scene: Scene, clients: number): Promise<void> {
  const { served, from, to } = await ask(scene, clients, LASTS_MS);
  const { client, waited, bound } = longestWait(served, clients, from, to);
  // Twice: on a busy machine the client that waits is late itself, as well as the one that is served. A client that starves waits to the end.
  const most = bound + 2 * scene.tolerance;
  assert.ok(
    waited <= most,
    `client ${client + 1} waited ${Math.round(waited)} ms while others were served; ${Math.round(most)} ms is the most`,
  );
}

/**
 * The longest wait of clients that asked without pause for one key between two times, ms, and how long any may have waited: 250 ms and
 * a tenure for each client; and as long as nobody at all was served: then the machine stood still, or the engine.
 * @example longestWait([{ client: 0, begin: 0, end: 1 }, { client: 1, begin: 9, end: 10 }], 2, 0, 10).waited === 9;
 */
export function longestWait(served: readonly Served[], clients: number, from: number, to: number) {
  const all = inOrder(served.filter(({ begin }) => begin < to));
  const waits = Array.from({ length: clients }, (_, number) =>
    longestGap(
      all.filter(({ client }) => client === number),
      from,
      to,
    ),
  );
  const waited = mostOf(waits);
  const section = mostOf(
    all.map(({ begin, end }) => end - begin),
    0,
  );
  const bound = SLACK_MS + clients * (HAND_OFF_MS + section) + longestGap(all, from, to);
  return { client: waits.indexOf(waited), waited, bound };
}

function longestGap(all: readonly Served[], from: number, to: number): number {
  let longest = 0;
  let last = from;
  for (const { begin, end } of all) {
    longest = Math.max(longest, begin - last);
    last = Math.max(last, end);
  }
  return Math.max(longest, to - last);
}

/** Clients whose callers ask again and again. @param enough ends it early */
async function ask(
  scene: Scene,
  clients: number,
  within: number,
  enough: (served: readonly Served[]) => boolean = () => false,
): Promise<{ served: Served[]; from: number; to: number }> {
  const all = await Promise.all(Array.from({ length: clients }, () => scene.locks({ spin: {} })));
  for (const locks of all) await locks.mutex(scene.key).run(() => {}); // a client that still connects is no waiter yet
  const served: Served[] = [];
  const from = scene.clock.now();
  let to = from + within;
  const calls = all.flatMap((locks, client) =>
    Array.from({ length: CALLERS }, async () => {
      while (scene.clock.now() < to) {
        const lease = await locks.mutex(scene.key).acquire();
        const begin = scene.clock.now();
        await scene.pass(1);
        const end = scene.clock.now();
        served.push({ client, begin, end });
        if (end < to && enough(served)) to = end;
        await lease.release();
      }
    }),
  );
  await Promise.all(calls);
  return { served: served.filter(({ begin }) => begin < to), from, to };
}
