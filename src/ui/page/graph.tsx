import { visible } from '../../core/visible.ts';
import type { Graph, GraphEdge, GraphNode } from '../wire.ts';
import { number, t, time } from './language.ts';
import { elapsed, going, query, show, snapshot } from './state.ts';

/** Of the picture, in CSS pixels. */
const BOX = { width: 190, height: 28 };
const STEP = { x: 260, y: 42 };
const MARGIN = 12;
/** How far a way back, which closes a circle, swings out. */
const SWING = 70;
/** Characters that fit a box. */
const FITS = 24;

interface Place {
  readonly x: number;
  readonly y: number;
}

const cut = (text: string): string => (text.length > FITS ? `${text.slice(0, FITS - 1)}…` : text);

/** Who waits stands left of what it waits for. */
function placesOf({ nodes }: Graph): ReadonlyMap<string, Place> {
  const last = Math.max(0, ...nodes.map(({ layer }) => layer));
  const heights = new Map<number, number>();
  return new Map(
    nodes.map(({ id, layer }) => {
      const row = heights.get(layer) ?? 0;
      heights.set(layer, row + 1);
      return [id, { x: MARGIN + (last - layer) * STEP.x, y: MARGIN + row * STEP.y }];
    }),
  );
}

function Edge({ edge, from, to }: { edge: GraphEdge; from: Place; to: Place }) {
  const back = to.x <= from.x;
  const [x, y] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [endX, endY] = [back ? to.x + BOX.width : to.x, to.y + BOX.height / 2];
  const [out, into] = back ? [x + SWING, endX + SWING] : [(x + endX) / 2, (x + endX) / 2];
  return (
    <path
      class={back ? 'edge back' : 'edge'}
      d={`M${x} ${y}C${out} ${y} ${into} ${endY} ${endX} ${endY}`}
      marker-end="url(#arrow)"
    >
      <title>{time(edge.for + elapsed.value)}</title>
    </path>
  );
}

function Box({ node, place }: { node: GraphNode; place: Place }) {
  const { what, name, layer } = node;
  const { x, y } = place;
  const isKey = what === 'key';
  const box = (
    <g class={`node ${what} ${layer === 0 ? 'last' : ''}`}>
      <rect x={x} y={y} width={BOX.width} height={BOX.height} rx={isKey ? BOX.height / 2 : 5} />
      <text x={x + BOX.width / 2} y={y + BOX.height / 2 + 4} text-anchor="middle">
        {cut(visible(name))}
        <title>{visible(name)}</title>
      </text>
    </g>
  );
  if (isKey) return <a {...going({ key: name })}>{box}</a>;
  return box;
}

function Picture({ graph }: { graph: Graph }) {
  const places = placesOf(graph);
  const all = [...places.values()];
  const width = Math.max(...all.map(({ x }) => x)) + BOX.width + SWING;
  const height = Math.max(...all.map(({ y }) => y)) + BOX.height + MARGIN;
  return (
    <div class="picture">
      <svg width={width} height={height} role="img" aria-label={t('graph')}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {graph.edges.map((edge) => (
          <Edge key={`${edge.from}\n${edge.to}`} edge={edge} from={places.get(edge.from)!} to={places.get(edge.to)!} />
        ))}
        {graph.nodes.map((node) => (
          <Box key={node.id} node={node} place={places.get(node.id)!} />
        ))}
      </svg>
    </div>
  );
}

/** Who waits for whom, over all keys. */
export function Waits() {
  const now = snapshot.value;
  const { graph: open } = query.value;
  if (!now || now.totals.contested === 0) return null;
  return (
    <section class="waits-for" aria-label={t('graph')}>
      <button type="button" class="plain" aria-expanded={open} onClick={() => show({ graph: !open })}>
        {open ? '▾' : '▸'} <strong>{t('graph')}</strong>
      </button>
      {open && now.graph && now.graph.nodes.length > 0 && (
        <>
          <Picture graph={now.graph} />
          <p class="remark soft">
            {t('graphText')} {now.graph.more > 0 && t('notListed', { n: number(now.graph.more) })}
          </p>
        </>
      )}
    </section>
  );
}
