/** One process of the service: `POST /grab/:orderId?driverId=`. */
import fastify from 'fastify';
import { serve } from '../../test/kit/worker.ts';
import { countHandOvers } from '../hand-overs.ts';
import { openDatabase } from './database.ts';
import { STRATEGIES } from './strategies.ts';

export type Calls = typeof calls;

const app = fastify();
const database = openDatabase(process.env.DATABASE_URL!);
const strategy = STRATEGIES.find(({ name }) => name === process.env.STRATEGY)!;
const handOvers = countHandOvers();
const { grab, close } = await strategy.open(database, process.env.LOCKS_URL!);

app.post<{ Params: { orderId: string }; Querystring: { driverId?: string } }>(
  '/grab/:orderId',
  async ({ params: { orderId }, query: { driverId = '' } }, reply) => {
    if (!/^[1-9]\d{0,8}$/.test(orderId) || !/^[\w-]{1,60}$/.test(driverId)) {
      return reply.code(400).send({ error: 'give a number of an order, and ?driverId=' });
    }
    const won = await grab(Number(orderId), driverId);
    return reply.code(won ? 201 : 409).send(won ? { driver: driverId } : { error: `order ${orderId} is taken` });
  },
);

const calls = {
  /** @returns the URL it listens on */
  listen: (): Promise<string> => app.listen({ port: 0, host: '127.0.0.1' }),
  /** How often a driver who waited for a lock of holdfast got it. */
  handOvers: (): number => handOvers(),
  async end(): Promise<void> {
    await app.close();
    await close?.();
    await database.end();
  },
};

serve(calls);
