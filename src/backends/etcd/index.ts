export { etcd } from './backend.ts';
export type { EtcdOptions, EtcdTls } from './options.ts';
