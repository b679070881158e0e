/** The thread that renews holds while the main thread cannot run. It has a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { closeQuietly, openBackend } from '../open.ts';
import { Rounds } from './rounds.ts';
import { Control, type FromWorker, failureOf, Segment, sharedClock, type Task, type ToWorker } from './table.ts';

const task = workerData as Task;
const port = parentPort!;
const say = (message: FromWorker): void => port.postMessage(message);

async function work(): Promise<void> {
  const backend = await openBackend(task.url);
  const rounds = new Rounds(backend, new Control(task.control), sharedClock(task.origin), task.stall);
  for (const memory of task.segments) rounds.add(new Segment(memory));
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    clearTimeout(timer);
    timer = setTimeout(look, rounds.look());
  };
  port.on('message', (message: ToWorker) => {
    if ('segment' in message) rounds.add(new Segment(message.segment));
    else if ('look' in message) look();
    else {
      clearTimeout(timer);
      port.close();
      void closeQuietly(backend).then(() => process.exit());
    }
  });
  look();
  say({ ready: true });
}

work().catch((error) => {
  say({ failed: failureOf(error) });
  port.close();
});
