import { jarsOf } from '../../kit/java.ts';

/** The last one of the third major version, whose latches stay for seconds, and one of the fourth. */
export const VERSIONS = ['3.52.0', '4.7.0'];

/** The program in Java, beside ours. */
export const PEER = new URL('Peer.java', import.meta.url);

export const jarsOfRedisson = (version: string): Promise<string | undefined> =>
  jarsOf({ group: 'org.redisson', name: 'redisson', version });
