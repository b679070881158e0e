import type { EngineUrl } from './engine.ts';
import { dynamodbUrl } from './engines/dynamodb.ts';
import { etcdUrl } from './engines/etcd.ts';
import { fileUrl } from './engines/file.ts';
import { memoryUrl } from './engines/memory.ts';
import { mongodbUrl } from './engines/mongodb.ts';
import { mysqlUrl } from './engines/mysql.ts';
import { natsUrl } from './engines/nats.ts';
import { postgresUrl } from './engines/postgres.ts';
import { redisUrl } from './engines/redis.ts';
import { redlockUrl } from './engines/redlock.ts';
import { s3Url } from './engines/s3.ts';
import { zookeeperUrl } from './engines/zookeeper.ts';

/** The engines that an address can name. CONTRIBUTING.md lists what else a new one needs, and a test asks for each item of that list. */
const REGISTRY = {
  memory: memoryUrl,
  file: fileUrl,
  redis: redisUrl,
  redlock: redlockUrl,
  postgres: postgresUrl,
  mysql: mysqlUrl,
  mongodb: mongodbUrl,
  etcd: etcdUrl,
  nats: natsUrl,
  s3: s3Url,
  dynamodb: dynamodbUrl,
  zookeeper: zookeeperUrl,
} as const satisfies Readonly<Record<string, EngineUrl>>;

/** The name of an engine: that of its folder, of its subpath of the package, and of its page. */
export type EngineName = keyof typeof REGISTRY;

export const ENGINES: Readonly<Record<EngineName, EngineUrl>> = REGISTRY;
