import assert from 'node:assert/strict';
import { mostOf } from '../../../src/core/index.ts';
import { type Law, law } from '../case.ts';
import type { Scene } from '../scene.ts';

const CALLERS = 5;
/** The time of a run without a queue: several times as long as anybody may wait. */
const LASTS_MS = 1_500;
/** A run with a queue lasts for so many turns of each client, or for this time. */
const TURNS_EACH = 5;
const MAX_TURNS_MS = 12_000;
/** While a client waits, each other client may have three turns: one that has begun, one ahead in the queue, one while a claim comes there. */
const MAX_TURNS = 3;
/**
 * If claims join the queue by a race of writes, the other clients may have so many more turns before a claim wins a race. With three replicas of NATS
 * on a busy machine, a claim loses up to three races of four. So one claim in 100,000 loses 40 in a row.
 */
const RACES = 40;
/** How long a client may wait, in addition to one tenure of each client. */
const SLACK_MS = 250;
/** How long a hold may pass from caller to caller inside a client: the default of `handOff.within`. */
const HAND_OFF_MS = 10;

/** One hold of a client. Times are ms of a clock that all clients share. */
interface Served {
  readonly client: number;
  readonly begin: number;
  readonly end: number;
}

/** Every caller is served, however busy others are: in turn if the engine keeps a queue, otherwise soon. */
export const starvation: readonly Law[] = [2, 4].map((clients) =>
  law(`nobody starves among ${clients} clients that ask without pause`, ['turns'], async (scene) => {
    await (scene.clients[0].traits.fair ? inTurn(scene, clients) : soon(scene, clients));
    await scene.isFree();
  }),
);

/** Counts turns and not time, because the engine or the machine may be slow. */
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
  // The turns of two clients alternate in any case. So the length of a turn has a limit, too.
  const longest = mostOf(turns.map(({ begin, end }) => end - begin));
  const limit = longestWait(served, 1, from, to).bound + races * timeBetween(turns) + scene.tolerance;
  assert.ok(longest <= limit, `a turn lasted ${Math.round(longest)} ms; ${Math.round(limit)} ms is the most`);
}

/** The turns in order. A turn is all holds of one client between holds of other clients. */
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

/** The median time between the end of a turn and the next turn, ms. */
function timeBetween(turns: readonly Served[]): number {
  const times = turns.slice(1).map(({ begin }, at) => Math.max(0, begin - turns[at]!.end));
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

async function soon(scene: Scene, clients: number): Promise<void> {
  const { served, from, to } = await ask(scene, clients, LASTS_MS);
  const { client, waited, bound } = longestWait(served, clients, from, to);
  // Twice: on a busy machine the client that waits and the one that is served may both be late. A client that starves waits to the end.
  const most = bound + 2 * scene.tolerance;
  assert.ok(
    waited <= most,
    `client ${client + 1} waited ${Math.round(waited)} ms while others were served; ${Math.round(most)} ms is the most`,
  );
}

/**
 * The longest wait of clients that asked for one key without pause, ms, and its bound: 250 ms, one tenure of each client, and the
 * longest time in which nobody was served, because then the machine or the engine stood still.
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

/** Callers of several clients ask again and again. @param enough ends the run early */
async function ask(
  scene: Scene,
  clients: number,
  within: number,
  enough: (served: readonly Served[]) => boolean = () => false,
): Promise<{ served: Served[]; from: number; to: number }> {
  const all = await Promise.all(Array.from({ length: clients }, () => scene.locks({ spin: {} })));
  for (const locks of all) await locks.mutex(scene.key).run(() => {}); // connects: the time for this is no wait
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
