// The way a process is started. It ends by itself: what keeps it alive is a fault of holdfast or of the client.
import cluster from 'node:cluster';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { run } from './run.mjs';

const path = process.argv[2] ?? process.env.HOLDFAST_CELL ?? workerData;
const way = process.env.HOLDFAST_WAY;

if (way === 'worker_threads' && isMainThread) {
  new Worker(new URL(import.meta.url), { workerData: path });
} else if (way === 'cluster' && cluster.isPrimary) {
  cluster.setupPrimary({ exec: new URL(import.meta.url).pathname, args: [path] });
  cluster.fork();
} else if (way === 'PM2' && cluster.isPrimary) {
  // As its cluster mode does: each worker is a container of PM2 (CommonJS), which loads the script.
  cluster.setupPrimary({ exec: new URL('container.cjs', import.meta.url).pathname, args: [path] });
  cluster.fork({ pm_exec_path: new URL(import.meta.url).pathname, HOLDFAST_CELL: path });
} else {
  await run(path);
  if (cluster.isWorker) process.disconnect();
}
