import { isIP, Socket } from 'node:net';

/** Gives the port on this machine that leads to a server. */
export type Route = (host: string, port: number) => Promise<number>;

interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
}

/**
 * Leads every TCP connection of this process through a port on this machine, for every opener: a driver, HTTP/2, TLS. It works
 * below TLS, so the server's certificates still match. It also reaches servers that only other servers name, as in a Redis
 * Cluster, where a changed URL would not help.
 */
export function routeAll(route: Route): void {
  const ports = new Map<string, number>();
  const { connect } = Socket.prototype as { connect: (...args: unknown[]) => Socket };
  const connectThrough = function (this: Socket & { connecting: boolean }, ...args: unknown[]): Socket {
    // Node itself passes a list: the options, and the callback.
    const [first, then] = (Array.isArray(args[0]) ? args[0] : args) as [Target, (() => void) | null | undefined];
    const given: Target = typeof first === 'number' ? { port: first } : first;
    if (given.port === undefined || given.path !== undefined) return connect.apply(this, args);
    const { host = 'localhost', port } = given;
    const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const go = (to: number): Socket => connect.call(this, { ...given, host: '127.0.0.1', port: to }, then);
    const known = ports.get(target);
    if (known !== undefined) return go(known);
    this.connecting = true; // writes wait until the connection is there
    route(host, Number(port)).then(
      (to) => {
        ports.set(target, to);
        if (!this.destroyed) go(to);
      },
      (error: Error) => this.destroy(error),
    );
    return this;
  };
  Object.assign(Socket.prototype, { connect: connectThrough });
}
