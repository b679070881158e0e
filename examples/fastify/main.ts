/**
 * A route that does its work under a lock, and a plugin that closes the locks with the server.
 * Run it: `node examples/fastify/main.ts`, then `curl -X POST 'http://127.0.0.1:3000/grab/42?driver=li'`.
 */
import { setTimeout as pass } from 'node:timers/promises';
import fastify from 'fastify';
import { connect } from '../../src/connect/index.ts';
import { isLockError } from '../../src/index.ts';

const app = fastify();
const locks = await connect(process.env.LOCKS_URL ?? 'memory:');
app.addHook('onClose', () => locks.close());

/** Somebody else was quicker for longer than we wait; or nobody knows. Both are worth another try later. */
app.setErrorHandler((error, _request, reply) => {
  if (isLockError(error, 'LOCK_TIMEOUT') || isLockError(error, 'LOCK_UNAVAILABLE')) {
    return reply.code(503).header('retry-after', '1').send({ error: error.code });
  }
  throw error;
});

const drivers = new Map<string, string>();

app.post<{ Params: { orderId: string }; Querystring: { driver: string } }>('/grab/:orderId', (request, reply) => {
  const { orderId } = request.params;
  return locks.mutex(`order:${orderId}`).run(
    async () => {
      if (drivers.has(orderId)) return reply.code(409).send({ error: `order ${orderId} is taken` });
      await pass(5); // a slow database
      drivers.set(orderId, request.query.driver);
      return reply.code(201).send({ driver: request.query.driver });
    },
    { wait: '2s' },
  );
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
console.log(`listening on ${await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })}`);
