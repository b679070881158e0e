import type { Command } from '../command.ts';

/** It takes its arguments apart itself: `npm run demo` starts it without the rest of the command line. */
export const demo: Command = {
  name: 'demo',
  summary: 'several processes want the same things, without and with a lock',
  takes: [],
  options: {
    url: { type: 'string' },
    processes: { type: 'string' },
    drivers: { type: 'string' },
    orders: { type: 'string' },
  },
  help: `Real processes, many drivers, few orders: without a lock, with one inside each process, and with holdfast.

  holdfast demo                                 on a file, in seconds
  holdfast demo --url redis://127.0.0.1         on an engine of yours
  holdfast demo --processes 8 --drivers 200 --orders 50

Exit code: 0 if with holdfast every order went to exactly one driver; 1 if not.`,
  run: async (args) => (await import('../demo/main.ts')).demo(args),
};
