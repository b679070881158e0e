/** One process of the service: `POST /grab/:orderId?driverId=`. */
import fastify from 'fastify';
import { serve } from '../../test/kit/worker.ts';
import { countHandOvers } from '../hand-overs.ts';
import { note, noting, takeNotes } from '../rush/notes.ts';
import type { Starting } from '../rush/start-signal.ts';
import { type Database, openDatabase } from './database.ts';
import { readOrder, signal } from './orders.ts';
import { type Opened, STRATEGIES } from './strategies.ts';

export interface Plan {
  readonly strategy: string;
  readonly database: string;
  /** The URL of what the strategy locks on. */
  readonly locks: string;
  /** Drivers in this process who tap on an order. */
  readonly drivers: number;
}

interface Opening extends Opened {
  readonly database: Database;
  /** Hand-overs before it. */
  readonly before: number;
}

const app = fastify();
const handOvers = countHandOvers();
let opening: Opening | undefined;

app.post<{ Params: { orderId: string }; Querystring: { driverId?: string } }>(
  '/grab/:orderId',
  async ({ params: { orderId }, query: { driverId = '' } }, reply) => {
    if (!/^[1-9]\d{0,8}$/.test(orderId) || !/^[\w-]{1,60}$/.test(driverId)) {
      return reply.code(400).send({ error: 'give a number of an order, and ?driverId=' });
    }
    const thing = Number(orderId);
    note(driverId, 'taps', { thing });
    const answer = noting(driverId, () => opening!.grab(thing, driverId));
    signal.tapped();
    const won = await answer;
    note(driverId, 'told', { thing, won });
    return reply.code(won ? 201 : 409).send(won ? { driver: driverId } : { error: `order ${orderId} is taken` });
  },
);

async function close(): Promise<void> {
  const was = opening;
  opening = undefined;
  await was?.close?.();
  await was?.database.end();
}

export type Calls = typeof calls;

const calls = {
  /** @returns the URL it listens on */
  listen: (): Promise<string> => app.listen({ port: 0, host: '127.0.0.1' }),
  async open({ strategy: name, locks, drivers, ...plan }: Plan): Promise<void> {
    await close();
    const database = openDatabase(plan.database);
    const strategy = STRATEGIES.find((each) => each.name === name)!;
    opening = { ...(await strategy.open(database, locks)), database, before: handOvers() };
    // A service that has run for a while has its connections.
    await Promise.all(Array.from({ length: drivers }, () => readOrder(database, 1, '')));
    takeNotes();
  },
  /** The next rush: so many taps come here. @param work ms of the check of the price */
  expect: (taps: number, work: number): void => signal.expect(taps, work),
  everyone: () => signal.everyone(),
  give: () => signal.give(),
  takeNotes,
  /** How often a driver who waited for a lock of holdfast got it. */
  handOvers: (): number => handOvers() - (opening?.before ?? 0),
  close,
} satisfies Starting & Record<string, unknown>;

serve(calls);
