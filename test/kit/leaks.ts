import { createHook } from 'node:async_hooks';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What keeps a process busy or an engine's connection open; by Node's names for it. */
const WATCHED: Readonly<Record<string, string>> = {
  Timeout: 'timer',
  TCPWRAP: 'socket',
  PIPEWRAP: 'socket',
  TCPSERVERWRAP: 'listening socket',
  PIPESERVERWRAP: 'listening socket',
  UDPWRAP: 'socket',
  PROCESSWRAP: 'child process',
  FSEVENTWRAP: 'file watcher',
  FILEHANDLE: 'open file',
  WORKER: 'thread',
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Resource {
  readonly type: string;
  readonly object: { hasRef?(): boolean; readonly fd?: number };
  readonly made: { stack?: string };
}

/** The frames of a stack that say something: not Node's own. */
function frames({ made }: Resource): string[] {
  const lines = (made.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return lines.filter((line) => !/\(node:|at node:|kit\/leaks\.ts/.test(line));
}

/**
 * A fail-over while its sentinel client opens a subscriber makes node-redis (6.3, `PubSubProxy.changeNode`) put another in its
 * place without ending the first, which goes on trying the dead node until that is back. Nobody else can reach it.
 */
const isDroppedByNodeRedis = (where: readonly string[]): boolean =>
  where.some((line) => /@redis\/client\/.*\/client\/socket\./.test(line)) &&
  where.some((line) => line.includes(`${ROOT}src/backends/redis/node-redis-sentinel.ts`));

/** Whether it is for us to clean up: not the test runner's, and not what a driver leaves in the background by design. */
function counts(resource: Resource): boolean {
  const where = frames(resource);
  if (where.length > 0 && where.every((line) => /node_modules\/(vitest|@vitest|vite)\//.test(line))) return false;
  if (isDroppedByNodeRedis(where)) return false;
  // A file that is closed has no number any more. Its object lives until it is collected.
  if (resource.type === 'FILEHANDLE' && resource.object.fd! < 0) return false;
  return resource.object.hasRef?.() !== false || where.some((line) => line.includes(`${ROOT}src/`));
}

/** Watches what is made from now on. */
export class LeakWatch {
  readonly #alive = new Map<number, Resource>();
  readonly #hook = createHook({
    init: (id, type, _trigger, object) => {
      if (!(type in WATCHED)) return;
      const made: { stack?: string } = {};
      Error.captureStackTrace(made);
      this.#alive.set(id, { type, object, made });
    },
    destroy: (id) => {
      this.#alive.delete(id);
    },
    // They are many, and none is a leak.
    trackPromises: false,
  });

  constructor() {
    this.#hook.enable();
  }

  /** A line for each that is still there, and where it was made. */
  leaks(): string[] {
    const found = [...this.#alive.values()].filter(counts);
    return found.map((resource) => {
      const where = frames(resource).map((line) => line.trim().replace(ROOT, ''));
      return [WATCHED[resource.type], ...where.slice(0, 4)].join('\n    ');
    });
  }

  /**
   * Gives what is just ending `within` ms, then throws if anything is left. By default longer than the last pause of a client of
   * node-redis before it would connect again (6.3: up to 2.2 s), which it sits out, also when it has been ended.
   */
  async end(within = 3_000): Promise<void> {
    // What is closed on purpose is gone after a turn or two of the loop.
    for (let waited = 0; this.leaks().length > 0 && waited < within; waited += 20) {
      await sleep(20);
      // That timer itself is not gone before the turn is over.
      await turn();
    }
    this.#hook.disable();
    const left = this.leaks();
    if (left.length > 0) throw new Error(`left behind by this file:\n  ${left.join('\n  ')}`);
  }
}
