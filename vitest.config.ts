import { transform } from 'esbuild';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';
import { missing } from './test/kit/programs.ts';
import { LongestFirst } from './test/run/longest-first.ts';

const config: ViteUserConfig = defineConfig({
  plugins: [
    {
      // Vite's own compiler leaves standard decorators as they are, and Node cannot read them.
      name: 'decorators',
      enforce: 'pre',
      async transform(code, id) {
        if (!/\.ts$/.test(id) || !/^\s*@\w/m.test(code)) return undefined;
        return transform(code, { loader: 'ts', target: 'node22', sourcemap: true, sourcefile: id });
      },
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    // Its imports are packages of its own. Where they are not installed, the summary of `npm test` says so.
    exclude: [...configDefaults.exclude, ...(missing('orms') ? ['test/orms/**'] : [])],
    globalSetup: [new URL('./test/kit/generated.ts', import.meta.url).pathname],
    setupFiles: [new URL('./test/kit/setup.ts', import.meta.url).pathname],
    // A process per file: real signals, and nothing of one file is left for the next.
    pool: 'forks',
    // On two cores: most files wait more than they work, but start servers of their own, which need the cores too.
    maxWorkers: 3,
    // Of tests that say that they do not mind, at a time in one file.
    maxConcurrency: 4,
    sequence: { sequencer: LongestFirst },
    // No test is tried again (but see `test/kit/machine-clock.ts`): a law that is broken now and then is broken. These are for what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    slowTestThreshold: 3_000,
  },
});

export default config;
