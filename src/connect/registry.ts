import type { EngineUrl } from './engine.ts';
import { dynamodbUrl, s3Url } from './engines/aws.ts';
import { etcdUrl, zookeeperUrl } from './engines/consensus.ts';
import { fileUrl, memoryUrl } from './engines/local.ts';
import { mongodbUrl } from './engines/mongodb.ts';
import { natsUrl } from './engines/nats.ts';
import { plainRedisUrl, redissonUrl, redisUrl, redlockUrl } from './engines/redis.ts';
import { mysqlUrl, postgresUrl } from './engines/sql.ts';

/** The engines that an address can name. All other lists of engines, in code and pages, come from this list, in its order. */
const REGISTRY = {
  memory: memoryUrl,
  file: fileUrl,
  redis: redisUrl,
  redlock: redlockUrl,
  'redis-plain': plainRedisUrl,
  redisson: redissonUrl,
  postgres: postgresUrl,
  mysql: mysqlUrl,
  mongodb: mongodbUrl,
  etcd: etcdUrl,
  zookeeper: zookeeperUrl,
  nats: natsUrl,
  s3: s3Url,
  dynamodb: dynamodbUrl,
} as const satisfies Readonly<Record<string, EngineUrl>>;

/** The name of an engine, which is also the name of its folder, its subpath of the package, and its page. */
export type EngineName = keyof typeof REGISTRY;

export const ENGINES: Readonly<Record<EngineName, EngineUrl>> = REGISTRY;
