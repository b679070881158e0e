export { zookeeper } from './backend.ts';
export type { ZookeeperOptions } from './options.ts';
