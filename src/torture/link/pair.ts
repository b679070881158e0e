import type { Socket } from 'node:net';

/** Ties both ends of a proxied connection: the reset of one resets the other. @param over called when both are closed */
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

/** libuv refuses to reset a socket that is shutting down, and Node then never closes it. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
