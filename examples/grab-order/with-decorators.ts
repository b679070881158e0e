import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { transformSync } from 'esbuild';

/**
 * Imports a module with decorators in it. Node leaves out types and knows no decorators yet, so that a service which is not
 * compiled anyway needs this, or something like it.
 */
export async function withDecorators<M>(module: URL): Promise<M> {
  const { href } = module;
  const hooks = registerHooks({
    load(url, context, next) {
      if (url !== href) return next(url, context);
      const { code } = transformSync(readFileSync(module, 'utf8'), { loader: 'ts', target: 'node24' });
      return { format: 'module', source: code, shortCircuit: true };
    },
  });
  try {
    return await import(href);
  } finally {
    hooks.deregister();
  }
}
