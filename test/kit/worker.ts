/** The side of a worker process: a file that calls `serve`, and is started by `startWorker` (processes.ts). */

// biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant; only `any` admits every function.
export type Calls = Record<string, (...args: any[]) => unknown>;

export interface ToWorker {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** `error`: the fields of an error that cloning would lose (`name`, `code`). */
export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string; readonly stack?: string };
}

export interface FromWorker {
  readonly event: string;
  readonly value?: unknown;
}

function send(message: Answer | FromWorker): void {
  process.send?.(message);
}

/** Tells the test something it did not ask for. */
export function tell(event: string, value?: unknown): void {
  send({ event, value });
}

/** Lets the test call these functions, until it ends this process or dies. */
export function serve(calls: Calls): void {
  process.on('message', async ({ id, name, args }: ToWorker) => {
    try {
      send({ id, value: await calls[name]!(...args) });
    } catch (thrown) {
      const { name: kind, message, code, stack } = thrown as Error & { code?: string };
      send({ id, error: { name: kind, message, code, stack } });
    }
  });
  // The test's process is gone.
  process.on('disconnect', () => process.exit());
  tell('ready');
}
