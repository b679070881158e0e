import type { Backend } from '../core/contract/backend.ts';
import { invalid } from '../core/contract/errors.ts';
import { bounded } from './bounded.ts';
import { didYouMean } from './did-you-mean.ts';
import type { EngineUrl, Opened } from './engine.ts';
import { etcdUrl } from './engines/etcd.ts';
import { fileUrl } from './engines/file.ts';
import { memoryUrl } from './engines/memory.ts';
import { mongodbUrl } from './engines/mongodb.ts';
import { mysqlUrl } from './engines/mysql.ts';
import { postgresUrl } from './engines/postgres.ts';
import { redisUrl } from './engines/redis.ts';
import { redlockUrl } from './engines/redlock.ts';
import { zookeeperUrl } from './engines/zookeeper.ts';
import { several } from './several.ts';
import { type Address, parseAddress } from './url.ts';

const ENGINES: readonly EngineUrl[] = [
  memoryUrl,
  fileUrl,
  redisUrl,
  redlockUrl,
  postgresUrl,
  mysqlUrl,
  mongodbUrl,
  etcdUrl,
  zookeeperUrl,
];

/**
 * A backend on the engine that a URL names, or a quorum of several, after it has answered. The caller closes it.
 * @throws LockError as `connect` does
 */
export async function openBackend(url: string | readonly string[]): Promise<Backend> {
  const { backend, reached } = await (Array.isArray(url) ? several(url.map(open)) : open(url as string));
  try {
    await reached;
    return backend;
  } catch (error) {
    await closed(backend);
    throw error;
  }
}

/** Has a limit and hides errors: the caller throws the error from before. */
export const closed = (backend: Backend): Promise<void> => bounded(backend.close()).catch(() => {});

async function open(url: string): Promise<Opened> {
  const address = parseAddress(url);
  const engine = ENGINES.find(({ schemes }) => schemes.includes(address.scheme));
  if (!engine) {
    const examples = ENGINES.map(({ example }) => example).join(', ');
    const schemes = ENGINES.flatMap((each) => each.schemes);
    throw invalid(`no engine has URLs of ${address.scheme}:; there are ${examples}${didYouMean(url, schemes)}`);
  }
  if (engine.params !== 'any') checkParams(address, engine.params);
  return engine.open(address);
}

/** A misspelt or repeated parameter must not be ignored: it might be the one that asks for TLS. */
function checkParams({ scheme, params }: Address, known: readonly string[]): void {
  for (const name of params.keys()) {
    if (!known.includes(name)) throw invalid(`${scheme}: has no ?${name}=; there are ${known.join(', ') || 'none'}`);
    if (params.getAll(name).length > 1) throw invalid(`?${name}= is given more than once`);
  }
}
