import type { Node, Port } from './port.ts';

/**
 * Asks the servers themselves, for people. One server is asked over a connection of our own, where the library gives one: a proxy may end a
 * connection for such a command, and ioredis would send that again, and end every later connection of the application, for ever.
 */
export async function aside<T>(port: Port, ask: (nodes: readonly Node[]) => Promise<T>): Promise<T> {
  const over = new AbortController();
  try {
    const own = port.cluster ? undefined : await port.ownConnection(0, over.signal, () => {}).catch(() => undefined);
    return await ask(own ? [{ command: (name, ...args) => own.command(name, [], ...args) }] : port.nodes());
  } finally {
    over.abort();
  }
}
