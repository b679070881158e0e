export type { ZookeeperOptions } from './options.ts';
export { zookeeper } from './zookeeper.ts';
