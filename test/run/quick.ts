/** What `npm run test:quick` runs, for every save: what needs no server and does not wait for long. About a minute on two cores. */
export const QUICK = {
  paths: [
    ...['test/core', 'test/once', 'test/leading/leader.test.ts', 'test/backends/memory', 'test/backends/file.test.ts'],
    ...['test/backends/quorum/holds.test.ts', 'test/simulation/simulation.test.ts', 'test/exploration'],
    ...['test/testing', 'test/architecture', 'test/docs/', 'test/run'],
    ...['test/site/navigation.test.ts', 'test/site/markdown.test.ts'],
  ],
  /** What of them takes its time: several processes, or leases that have to run out. */
  without: ['**/processes.test.ts', 'test/testing/mutants.test.ts', 'test/docs/start.test.ts'],
  environment: { BACKENDS: 'memory,file', SIM_SCHEDULES: '200', EXPLORE: 'little' },
} as const;
