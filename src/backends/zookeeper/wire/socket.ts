import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Clock } from '../../../core/contract/clock.ts';
import { ConnectionLost } from './errors.ts';
import type { Server } from './servers.ts';

/**
 * A connected socket, with TLS if asked for. It has a listener for errors from the start.
 * @param over ends the socket, now and later
 */
export function openSocket(
  { host, port }: Server,
  tls: ConnectionOptions | undefined,
  within: number,
  clock: Clock,
  over?: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Node warns if an address is given as a server name.
    const name = isIP(host) ? {} : { servername: host };
    const socket = tls ? connectTls({ ...name, ...tls, host, port }) : connectTcp({ host, port });
    const cancel = clock.after(within, () => socket.destroy(new ConnectionLost(`no connection within ${within} ms`)));
    const end = (): void => void socket.destroy(new ConnectionLost('closed'));
    over?.addEventListener('abort', end);
    socket.once('close', () => over?.removeEventListener('abort', end));
    socket.setNoDelay(true);
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      cancel();
      resolve(socket);
    });
    socket.on('error', (error) => {
      cancel();
      reject(error);
    });
  });
}
