import type { Layout } from '../../backends/redis/layout.ts';
export const layouts = {} as const satisfies Record<string, Layout>;
