import { invalid, shown } from '../../../core/contract/errors.ts';

export interface Server {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 2181;

/**
 * Reads a connect string: `h1:2181,h2,[::1]:2183`. It may have no path (a chroot): that is what `prefix` is for.
 * @throws LockError `LOCK_INVALID`.
 */
export function parseServers(text: unknown): Server[] {
  if (typeof text !== 'string') throw invalid(`servers is ${shown(text)}; give 'host:port,host:port'`);
  return text.split(',').map((part) => {
    const match = /^\s*(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]@]+))(?::(\d{1,5}))?\s*$/.exec(part);
    const port = Number(match?.[3] ?? DEFAULT_PORT);
    const host = match?.[1] ?? match?.[2];
    if (!host || port < 1 || port > 65_535) throw invalid("servers is not of the form 'host:port,host:port'");
    return { host, port };
  });
}

/** The servers in a random order, so that not every client goes to the first, again and again. */
export function* rotation(servers: readonly Server[], random: () => number): Generator<Server, never> {
  const order = [...servers];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  for (let at = 0; ; at = (at + 1) % order.length) yield order[at]!;
}
