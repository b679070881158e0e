import type { Socket } from 'node:net';

/** Both ends of a connection through a proxy: what resets one resets the other. @param over both are closed */
export function pair(client: Socket, server: Socket, over: () => void): void {
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    socket.on('error', () => reset(other));
    socket.on('close', () => {
      if (client.destroyed && server.destroyed) over();
    });
  }
}

/** libuv refuses to reset a socket that is just shutting down, and Node then never closes it. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
