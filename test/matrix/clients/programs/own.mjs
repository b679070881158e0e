// Engines whose client is holdfast's own.
export async function open({ client, url }) {
  const at = new URL(url).host;
  if (client === 'etcd') {
    const { etcd } = await import('holdfast/etcd');
    return { backend: async (prefix) => ({ backend: etcd({ endpoints: at, prefix }) }) };
  }
  const { zookeeper } = await import('holdfast/zookeeper');
  return {
    backend: async (prefix) => ({ backend: zookeeper({ servers: at, sessionTimeout: 4_000, prefix }) }),
  };
}
