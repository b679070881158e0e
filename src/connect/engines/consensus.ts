import { type Duration, invalid } from '../../core/index.ts';
import { type EngineUrl, openEngine } from '../engine.ts';
import { TLS_PARAMS, tlsOf } from '../tls.ts';
import { endpoints, pick } from '../url.ts';

/** No driver is needed: the backend speaks etcd's protocol over Node's own HTTP/2. */
export const etcdUrl: EngineUrl = {
  schemes: ['etcd'],
  example: 'etcd://h1:2379,h2:2379,h3:2379',
  ports: { 2379: 'etcd' },
  params: ['prefix', ...TLS_PARAMS],
  async open(address) {
    const { user, password, path } = address;
    if (path !== '') throw invalid('etcd: has no path; what keeps applications apart is ?prefix=');
    const { etcd } = await import('../../backends/etcd/index.ts');
    const backend = etcd({
      endpoints: endpoints(address, 2379),
      user,
      password,
      tls: tlsOf(address),
      ...pick(address, 'prefix'),
    });
    return openEngine(address, backend);
  },
};

/** No driver is needed: the backend speaks ZooKeeper's protocol itself. */
export const zookeeperUrl: EngineUrl = {
  schemes: ['zookeeper'],
  example: 'zookeeper://h1:2181,h2:2181,h3:2181',
  ports: { 2181: 'zookeeper' },
  params: ['prefix', 'sessionTimeout', ...TLS_PARAMS],
  async open(address) {
    const { zookeeper } = await import('../../backends/zookeeper/index.ts');
    const { user, password, path, params } = address;
    const timeout = params.get('sessionTimeout') ?? undefined;
    const backend = zookeeper({
      servers: endpoints(address, 2181).join(),
      auth: user === undefined ? undefined : { user, password: password ?? '' },
      tls: tlsOf(address),
      // In a URL even a number of ms is text.
      sessionTimeout: /^\d+$/.test(timeout ?? '') ? Number(timeout) : (timeout as Duration | undefined),
      // As in other clients of ZooKeeper, all nodes are under the path of the URL.
      prefix: [path, params.get('prefix') ?? 'holdfast'].filter(Boolean).join('/'),
    });
    return openEngine(address, backend);
  },
};
