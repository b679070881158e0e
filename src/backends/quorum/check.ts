import type { Finding } from '../../core/contract/backend.ts';
import type { Node } from './node.ts';

/** Gives the findings of each node, with the number of the node, and the findings about the quorum as a whole. */
export async function findings(nodes: readonly Node[], within: number): Promise<Finding[]> {
  const found = await Promise.all(nodes.map((node) => nodeFindings(node, within)));
  return [...(nodes.length % 2 === 0 ? [EVEN] : []), ...found.flat()];
}

const EVEN: Finding = {
  severity: 'info',
  code: 'even-nodes',
  message: 'the number of nodes is even: it survives no more losses than with one node less',
  advice: 'use three or five nodes',
};

async function nodeFindings(node: Node, within: number): Promise<Finding[]> {
  try {
    return (await node.check(within)).map((finding) => ({ ...finding, message: `${node.title}: ${finding.message}` }));
  } catch (error) {
    return [
      {
        severity: 'danger',
        code: 'node-unavailable',
        message: `${node.title}: ${error instanceof Error ? error.message : String(error)}`,
        advice: 'bring it back: one loss less can be survived until then',
      },
    ];
  }
}
