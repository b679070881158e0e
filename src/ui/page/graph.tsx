import { Fragment } from 'preact';
import { mostOf } from '../../core/contract/extremes.ts';
import { visible } from '../../core/contract/visible.ts';
import type { Deadlock, Graph, GraphEdge, GraphNode } from '../wire.ts';
import { number, t, time } from './language.ts';
import { elapsed, going, query, show, snapshot } from './state.ts';
import { Name } from './text.tsx';

/** Sizes of the picture, in CSS pixels. */
const BOX = { width: 190, height: 28 };
const STEP = { x: 260, y: 42 };
const MARGIN = 12;
/** How far an arrow back swings out below. */
const SWING = 44;
/** How many characters fit a box. */
const FITS = 24;

interface Point {
  readonly x: number;
  readonly y: number;
}

const cut = (text: string): string => (text.length > FITS ? `${text.slice(0, FITS - 1)}…` : text);

/** A node stands left of what it waits for. */
function pointsOf({ nodes }: Graph): ReadonlyMap<string, Point> {
  const last = mostOf(
    nodes.map(({ layer }) => layer),
    0,
  );
  const heights = new Map<number, number>();
  return new Map(
    nodes.map(({ id, layer }) => {
      const row = heights.get(layer) ?? 0;
      heights.set(layer, row + 1);
      return [id, { x: MARGIN + (last - layer) * STEP.x, y: MARGIN + row * STEP.y }];
    }),
  );
}

/** Draws an arrow from side to side. An arrow back closes a cycle, and goes around below. */
function wayOf(from: Point, to: Point, floor: number): string {
  if (to.x > from.x) {
    const [x, y, endY] = [from.x + BOX.width, from.y + BOX.height / 2, to.y + BOX.height / 2];
    const half = (x + to.x) / 2;
    return `M${x} ${y}C${half} ${y} ${half} ${endY} ${to.x} ${endY}`;
  }
  const [x, y] = [from.x + BOX.width * 0.6, from.y + BOX.height];
  const [endX, endY] = [to.x + BOX.width * 0.4, to.y + BOX.height];
  const below = floor + SWING;
  return `M${x} ${y}C${x} ${below} ${endX} ${below} ${endX} ${endY}`;
}

function Edge({ edge, from, to, floor }: { edge: GraphEdge; from: Point; to: Point; floor: number }) {
  const back = to.x <= from.x;
  return (
    <path
      class={`edge ${back ? 'back' : ''} ${edge.stuck ? 'stuck' : ''}`}
      d={wayOf(from, to, floor)}
      marker-end="url(#arrow)"
    >
      <title>{time(edge.for + elapsed.value)}</title>
    </path>
  );
}

function Box({ node, place, waits }: { node: GraphNode; place: Point; waits: boolean }) {
  const { what, name } = node;
  const { x, y } = place;
  const isKey = what === 'key';
  const box = (
    <g class={`node ${what} ${waits ? '' : 'last'}`}>
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
  const places = pointsOf(graph);
  const all = [...places.values()];
  const waiting = new Set(graph.edges.map(({ from }) => from));
  const circles = graph.edges.some(({ from, to }) => places.get(to)!.x <= places.get(from)!.x);
  const width = mostOf(all.map(({ x }) => x)) + BOX.width + MARGIN;
  const floor = mostOf(all.map(({ y }) => y)) + BOX.height;
  const height = floor + MARGIN + (circles ? SWING : 0);
  return (
    <div class="picture">
      <svg width={width} height={height} role="img" aria-label={t('graph')}>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {graph.edges.map((edge) => (
          <Edge
            key={`${edge.from}\n${edge.to}`}
            edge={edge}
            from={places.get(edge.from)!}
            to={places.get(edge.to)!}
            floor={floor}
          />
        ))}
        {graph.nodes.map((node) => (
          <Box key={node.id} node={node} place={places.get(node.id)!} waits={waiting.has(node.id)} />
        ))}
      </svg>
    </div>
  );
}

/** Tells a deadlock in words. */
function Circle({ deadlock: { steps, claims } }: { deadlock: Deadlock }) {
  return (
    <li>
      {steps.map(({ label, key, held, ticket }, i) => {
        const before = steps[i - 1];
        const name = <Name text={label} />;
        return (
          <Fragment key={`${key} ${ticket}`}>
            {held ? t('heldByWho') : before && !before.held ? t('behindWho') : ''} {name}{' '}
            {!held && (
              <>
                {t('waitsForKey')}{' '}
                <a {...going({ key })}>
                  <Name text={key} />
                </a>{' '}
              </>
            )}
            {i < steps.length - 1 && <span class="soft">→ </span>}
          </Fragment>
        );
      })}
      <span class="soft">↺ {claims > steps.length && t('inAll', { n: number(claims) })}</span>
    </li>
  );
}

/** The deadlocks: only a person ends them, or a lease that lapses. */
export function Deadlocks() {
  const deadlocks = snapshot.value?.deadlocks ?? [];
  if (deadlocks.length === 0) return null;
  return (
    <section class="band bad deadlocks" role="alert">
      <strong>{deadlocks.length === 1 ? t('deadlock') : t('deadlocks', { n: number(deadlocks.length) })}</strong>
      <ol>
        {deadlocks.map((deadlock) => (
          <Circle key={deadlock.steps.map(({ key, ticket }) => `${key} ${ticket}`).join('\n')} deadlock={deadlock} />
        ))}
      </ol>
      <p class="soft">{t('deadlockText')}</p>
    </section>
  );
}

/** Shows which process waits for which other one, over all keys. */
export function Waits() {
  const now = snapshot.value;
  if (!now || now.totals.contested === 0) return null;
  const open = query.value.graph || now.deadlocks.length > 0;
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
