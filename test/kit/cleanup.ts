/** What must not outlive this process (servers, workers, folders), undone when it ends, however it ends. */
const pending = new Set<() => void>();

function cleanUp(): void {
  for (const undo of [...pending].reverse()) {
    pending.delete(undo);
    try {
      undo();
    } catch {
      // The rest has to be undone too.
    }
  }
}

process.on('exit', cleanUp);
// vitest ends its workers by SIGTERM, which runs no exit handlers by itself.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.once(signal, () => {
    cleanUp();
    process.kill(process.pid, signal);
  });
}

/** Calls `undo` at the end of the process, unless the returned function was called before. */
export function atExit(undo: () => void): () => void {
  pending.add(undo);
  return () => pending.delete(undo);
}
