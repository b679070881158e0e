// Makes a bundle: `node bundle.mjs <bundler> <format> <program> <folder>`. The last line that it prints is the file to start. It runs in a
// project that has the bundlers.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const [bundler, format, program, folder] = process.argv.slice(2);
const entry = resolve(program);
const file = format === 'cjs' ? 'main.cjs' : 'main.mjs';

/** Peers that a user of the module about them has, and that a bundler of a server leaves out. */
const EXTERNAL = [/^@nestjs\//, /^@opentelemetry\//];

const BUNDLERS = {
  async esbuild() {
    const { build } = await import('esbuild');
    // What is required in a bundle of ESM needs this, as the documentation of esbuild says.
    const js = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
    await build({
      entryPoints: [entry],
      outfile: join(folder, file),
      bundle: true,
      platform: 'node',
      format,
      external: ['@nestjs/*', '@opentelemetry/*'],
      banner: format === 'esm' ? { js } : {},
      logLevel: 'error',
    });
  },
  async rollup() {
    const { rollup } = await import('rollup');
    const { default: nodeResolve } = await import('@rollup/plugin-node-resolve');
    const { default: commonjs } = await import('@rollup/plugin-commonjs');
    const { default: json } = await import('@rollup/plugin-json');
    const plugins = [nodeResolve({ preferBuiltins: true }), commonjs(), json()];
    const made = await rollup({ input: entry, external: EXTERNAL, plugins, onwarn() {} });
    await made.write({ dir: folder, format, entryFileNames: file, chunkFileNames: `[name].${file.split('.')[1]}` });
  },
  async webpack() {
    const { default: webpack } = await import('webpack');
    const isModule = format === 'esm';
    const stats = await new Promise((resolve, reject) => {
      const options = {
        mode: 'production',
        optimization: { minimize: false },
        target: 'node',
        entry,
        externals: EXTERNAL,
        externalsType: isModule ? 'module' : 'commonjs',
        experiments: { outputModule: isModule },
        output: {
          path: folder,
          filename: file,
          chunkFormat: isModule ? 'module' : 'commonjs',
          ...(isModule && { library: { type: 'module' } }),
        },
      };
      webpack(options, (error, made) => (error ? reject(error) : resolve(made)));
    });
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  },
  async ncc() {
    const { default: ncc } = await import('@vercel/ncc');
    const externals = ['@nestjs/common', '@nestjs/core', '@nestjs/schedule', '@opentelemetry/api'];
    const { code, assets } = await ncc(entry, { cache: false, quiet: true, externals });
    const made = { [file]: { source: code }, ...assets };
    for (const [name, { source }] of Object.entries(made)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), source);
    }
  },
};

await BUNDLERS[bundler]();
process.exit(); // ncc leaves something running
