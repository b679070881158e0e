import { read } from './nodes.ts';
import type { Place, Places } from './places.ts';
import type { Connection } from './wire/connection.ts';

/**
 * Sees that a node of ours is there, belongs to the session of this connection, and from then on watches it, so that the
 * next proof on the same connection needs no question. Whoever is robbed of a node hears it at once.
 */
export async function proven(places: Places, id: string, place: Place, connection: Connection): Promise<boolean> {
  while (place.seenOn !== connection) {
    let changed = false;
    const node = await read(connection, place.path, () => {
      changed = true;
      place.seenOn = undefined;
      // A connection that has ended tells nothing about the node: the next renewal, on another one, looks again.
      if (connection.alive && places.has(id, place)) proven(places, id, place, connection).catch(() => {});
    });
    if (node?.stat.ephemeralOwner !== connection.session) {
      places.lose(id, place);
      return false;
    }
    if (!changed) place.seenOn = connection;
  }
  return true;
}
