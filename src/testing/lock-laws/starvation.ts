import assert from 'node:assert/strict';
import { mostOf } from '../../core/index.ts';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';
import { longestWait, mostTurns, type Served, type Turn, turnsOf } from '../served.ts';

const CALLERS = 5;
/** Where no line is kept: several times as long as anybody may wait, ms. */
const LASTS = 1_500;
/** Where a line is kept: so many turns of each client are seen, unless that takes longer than this, ms. */
const TURNS = { each: 5, within: 12_000 };
/** While a client waits, each other client has one turn before it; one that it began before; and one, while a claim is on its way to the line. */
const MOST_TURNS = 3;
/** Where a claim comes to the line by a race of writes: others have so many turns more before it wins one. */
const RACES = 16;

/** Every caller is served, however busy others are: in turn where the engine keeps a line, and soon where it does not. */
export const starvation: readonly Law[] = [busy(2), busy(4)];

function busy(clients: number): Law {
  return law(`nobody starves among ${clients} clients that ask without pause`, ['turns'], async (scene) => {
    await (scene.clients[0].traits.fair ? inTurn(scene, clients) : soon(scene, clients));
    await scene.isFree();
  });
}

/** However slow the engine and the machine are: the turns count, and not the time. */
async function inTurn(scene: Scene, clients: number): Promise<void> {
  const races = scene.clients[0].traits.joinsByRace ? RACES : 0;
  const enough = (served: readonly Served[]): boolean => turnsOf(served).length > TURNS.each * clients + races;
  const { served, from, to } = await ask(scene, clients, TURNS.within, enough);
  const inOrder = turnsOf(served);
  const { client, turns } = mostTurns(inOrder, clients);
  const most = MOST_TURNS * (clients - 1) + races;
  assert.ok(turns <= most, `others had ${turns} turns while client ${client + 1} waited; ${most} is the most`);
  // Where there are only two, their turns alternate, however long one lasts.
  const longest = mostOf(inOrder.map(({ begin, end }) => end - begin));
  const limit = longestWait(served, 1, from, to).bound + races * timeBetween(inOrder) + scene.tolerance;
  assert.ok(longest <= limit, `a turn lasted ${Math.round(longest)} ms; ${Math.round(limit)} ms is the most`);
}

/** How long it takes to give the key from one client to the next: the median, ms. */
function timeBetween(turns: readonly Turn[]): number {
  const times = turns.slice(1).map(({ begin }, at) => Math.max(0, begin - turns[at]!.end));
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

async function soon(scene: Scene, clients: number): Promise<void> {
  const { served, from, to } = await ask(scene, clients, LASTS);
  const { client, waited, bound } = longestWait(served, clients, from, to);
  // Twice: on a busy machine the client that waits is late itself, as well as the one that is served. A client that starves waits to the end.
  const most = bound + 2 * scene.tolerance;
  assert.ok(
    waited <= most,
    `client ${client + 1} waited ${Math.round(waited)} ms while others were served; ${Math.round(most)} ms is the most`,
  );
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
