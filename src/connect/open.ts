import type { Backend } from '../core/contract/backend.ts';
import { invalid } from '../core/contract/errors.ts';
import { didYouMean } from './did-you-mean.ts';
import type { OpenEngine } from './engine.ts';
import { withConnectLimit } from './engine.ts';
import { ENGINES } from './registry.ts';
import { several } from './several.ts';
import { type Address, parseAddress } from './url.ts';

const engines = Object.values(ENGINES);

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
    await closeQuietly(backend);
    throw error;
  }
}

/** Has a limit and hides errors: the caller throws the error from before. */
export const closeQuietly = (backend: Backend): Promise<void> => withConnectLimit(backend.close()).catch(() => {});

async function open(url: string): Promise<OpenEngine> {
  const address = parseAddress(url, (href) => didYouMean(href, engines));
  const engine = engines.find(({ schemes }) => schemes.includes(address.scheme));
  if (!engine) {
    const examples = engines.map(({ example }) => example).join(', ');
    throw invalid(`no engine has URLs of ${address.scheme}:; there are ${examples}${didYouMean(url, engines)}`);
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
