import { invalid } from '../../core/contract/errors.ts';
import { type EngineUrl, openEngine } from '../engine.ts';
import { TLS_PARAMS, tlsOf } from '../tls.ts';
import { endpoints, pick } from '../url.ts';

/** Without a driver: the backend speaks etcd's protocol over Node's own HTTP/2. */
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
