import { portOf, type RedisClient } from '../../../src/backends/redis/client.ts';
import { meaning } from '../../../src/backends/redis/errors.ts';
import { Server } from '../../../src/backends/redis/server.ts';
import { checkPrefix, onceFor } from '../../../src/core/index.ts';
import { RESERVE, type Reply, type Step, type Take } from '../cell.ts';
import { StockError } from '../errors.ts';
import { checkOptions } from '../input.ts';
import { QUICK, RELAYOUT, RIGHTS, STEP } from '../redis/scripts.generated.ts';
import { formatKept, parseKept, productName, type StockStore } from '../store.ts';

/** Options of `redisStock`. */
export interface RedisStockOptions {
  /** The prefix of all keys; default `holdfast`. */
  readonly prefix?: string;
}

/** For how many products the names of the keys are kept, so that not every step must build them. */
const MAX_PRODUCTS = 1_000;

/**
 * A store on one Redis (6.2 or newer) or Valkey, on a Cluster (each segment has its own slot), or on several independent servers:
 * segment i is on server i modulo their number, the reserve and the layout on the first.
 * @param clients a connected ioredis or node-redis client, or several: everywhere the same servers in the same order
 * @throws LockError `LOCK_INVALID`, StockError `STOCK_INVALID`
 * @example const stock = createStock(redisStock(client, { prefix: 'shop' }));
 */
export function redisStock(clients: RedisClient | readonly RedisClient[], options: RedisStockOptions = {}): StockStore {
  checkOptions(options, ['prefix'], 'redisStock');
  const { prefix = 'holdfast' } = options;
  const list = Array.isArray(clients) ? (clients as readonly RedisClient[]) : [clients as RedisClient];
  if (list.length === 0) throw new StockError('STOCK_INVALID', 'redisStock() needs a client');
  const engines = list.map((client) => new Server(portOf(client)));
  const base = `${checkPrefix(prefix)}:stock:`;
  const layoutKey = (product: string): string => `${base}{${product}}:layout`;
  const known = new Map<string, string[][]>();
  function keysOf(address: string, cell: number): readonly string[] {
    if (known.size === MAX_PRODUCTS && !known.has(address)) known.clear();
    const cells = known.get(address) ?? [];
    known.set(address, cells);
    cells[cell - RESERVE] ??= ['cell', 'requests', 'bought', 'due'].map(
      (part) => `${base}{${address}/${cell}}:${part}`,
    );
    return cells[cell - RESERVE]!;
  }
  const engineOf = (cell: number): Server => engines[Math.max(0, cell) % engines.length]!;

  const allowed = new Map<Server, () => Promise<unknown>>();
  /** Tries all rights before the first step on a server. Otherwise a missing right would break off a step and leave it half done. */
  function checkRights(engine: Server, keys: readonly string[]): Promise<unknown> {
    const trial = allowed.get(engine) ?? onceFor(() => engine.run(RIGHTS, keys, []));
    allowed.set(engine, trial);
    return trial();
  }

  const translateError = (error: unknown, product: string): unknown =>
    meaning(error, 'change the stock of', productName(product));

  return {
    name: 'redis',
    servers: engines.length,
    async layout(product) {
      const text = await engines[0]!.command('read the stock', 'GET', [layoutKey(product)]);
      return text === null ? undefined : parseKept(`${text}`);
    },
    async relayout(product, was, layout) {
      const args = [was?.identity ?? '', `${was?.version ?? 0}`, layout ? formatKept(layout) : ''];
      try {
        const done = await engines[0]!.run(RELAYOUT, [layoutKey(product)], args);
        return Number(done) === 1; // some clients can be set to return text (`stringNumbers`…)
      } catch (error) {
        throw translateError(error, product);
      }
    },
    async step(address, cell, steps) {
      const engine = engineOf(cell);
      const keys = keysOf(address, cell);
      const replies: Reply[] = [];
      try {
        await checkRights(engine, keys);
        if (areOrdinary(steps)) {
          const reply = await engine.run(QUICK, keys, argsOf(steps));
          const [done, now] = Array.isArray(reply) ? reply.map(Number) : [Number(reply), 0];
          for (let i = 0; i < done!; i++) replies.push(takeReply(steps[i]!, now!));
          if (done === steps.length) return replies;
        }
        const rest = JSON.stringify(steps.slice(replies.length));
        return [...replies, ...JSON.parse(`${await engine.run(STEP, keys, [rest])}`)];
      } catch (error) {
        throw translateError(error, address);
      }
    },
    async clear(address, cell) {
      await engineOf(cell).command('remove the stock', 'UNLINK', keysOf(address, cell));
      return true;
    },
  };
}

/** Whether quick.lua can do the steps: takes without a token, with equal epoch, ttl and limit. */
function areOrdinary(steps: readonly Step[]): steps is readonly Take[] {
  const [first] = steps;
  return (
    first?.op === 'take' &&
    steps.every(
      (step) =>
        step.op === 'take' &&
        step.token === '' &&
        step.already === 0 &&
        step.ttl === first.ttl &&
        step.limit === first.limit &&
        step.epoch === first.epoch,
    )
  );
}

function argsOf(takes: readonly Take[]): string[] {
  const { epoch, ttl, limit } = takes[0]!;
  const args = [`${epoch}`, `${ttl}`, `${limit}`];
  for (const { id, buyer, units } of takes) args.push(id, buyer, `${units}`);
  return args;
}

const takeReply = ({ units, buyer, ttl }: Take, now: number): Reply => ({
  is: 'done',
  units,
  buyer,
  until: ttl > 0 ? now + ttl : 0,
  now,
});
