import type { ConnectionOptions } from 'node:tls';
import type { Clock } from '../../../core/clock.ts';
import type { Server } from './servers.ts';
import { openSocket } from './socket.ts';

/**
 * The server's own report by the four-letter word `srvr`, the one that is allowed by default.
 * @returns undefined when none came within `within` ms
 */
export async function serverReport(
  server: Server,
  tls: ConnectionOptions | undefined,
  within: number,
  clock: Clock,
): Promise<string | undefined> {
  try {
    const socket = await openSocket(server, tls, within, clock);
    const cancel = clock.after(within, () => socket.destroy());
    try {
      socket.end('srvr');
      let report = '';
      for await (const chunk of socket) report += chunk;
      return /version:/.test(report) ? report : undefined;
    } finally {
      cancel();
    }
  } catch {
    return undefined; // it may be forbidden; whoever asks says so
  }
}
