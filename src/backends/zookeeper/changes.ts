import { list, stat } from './nodes.ts';
import type { Connection } from './wire/connection.ts';

/** Tells once when a node comes to stand under `parent` or goes, or when the connection ends. */
export async function watchChildren(
  connection: Connection,
  parent: string,
  tell: () => void,
): Promise<AsyncDisposable> {
  let over = false;
  const told = (): void => {
    if (over) return;
    over = true;
    tell();
  };
  const watcher = Object.assign(told, { isOver: () => over });
  const { asOf } = await list(connection, parent, watcher);
  // What is not there has no children to watch. It may have been made since: then its children are watched after all.
  if (asOf === 0n && (await stat(connection, parent, watcher))) await list(connection, parent, watcher);
  return {
    [Symbol.asyncDispose]: async () => {
      over = true;
    },
  };
}
