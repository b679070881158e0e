import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { leastOf } from '../../../src/core/contract/extremes.ts';
import { visible } from '../../../src/core/contract/visible.ts';
import type { Deadlock, Graph, GraphEdge, GraphNode } from '../wire.ts';
import { BOX, type Picture, type Point, pictureOf } from './picture.ts';
import { elapsed, going, number, query, releasing, show, snapshot, t, time } from './state.ts';
import { Name } from './text.tsx';

const FITS = 24;

const cut = (text: string): string => (text.length > FITS ? `${text.slice(0, FITS - 1)}…` : text);

function Edge({ edge, way: { path, back } }: { edge: GraphEdge; way: Picture['ways'][number] }) {
  return (
    <path class={`edge ${back ? 'back' : ''} ${edge.stuck ? 'stuck' : ''}`} d={path} marker-end="url(#arrow)">
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

function Drawing({ graph }: { graph: Graph }) {
  const { width, height, places, ways } = pictureOf(graph);
  const waiting = new Set(graph.edges.map(({ from }) => from));
  const stuck = graph.edges.filter((edge) => edge.stuck).map(({ from }) => places.get(from)!.x);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (stuck.length > 0) frame.current!.scrollLeft = leastOf(stuck) - BOX.width; // a deadlock may be far to the right
  }, [stuck.length > 0]);
  return (
    <div class="picture" ref={frame}>
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
        {graph.edges.map((edge, i) => (
          <Edge key={`${edge.from}\n${edge.to}`} edge={edge} way={ways[i]!} />
        ))}
        {graph.nodes.map((node) => (
          <Box key={node.id} node={node} place={places.get(node.id)!} waits={waiting.has(node.id)} />
        ))}
      </svg>
    </div>
  );
}

function Circle({ deadlock: { steps, claims, victim } }: { deadlock: Deadlock }) {
  return (
    <li>
      {steps.map(({ label, key, held, token }, i) => {
        const before = steps[i - 1];
        const name = <Name text={label} />;
        return (
          <Fragment key={`${key} ${token}`}>
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
      {victim && snapshot.value?.mayRelease && (
        <button
          type="button"
          class="danger"
          onClick={() => {
            releasing.value = victim;
          }}
        >
          <Name text={t('evictVictim', { label: victim.label, key: victim.key })} />
        </button>
      )}
    </li>
  );
}

/** The deadlocks. Only an eviction by a user or the expiry of a lease ends a deadlock. */
export function Deadlocks() {
  const deadlocks = snapshot.value?.deadlocks ?? [];
  if (deadlocks.length === 0) return null;
  return (
    <section class="band bad deadlocks" role="alert">
      <strong>{deadlocks.length === 1 ? t('deadlock') : t('deadlocks', { n: number(deadlocks.length) })}</strong>
      <ol>
        {deadlocks.map((deadlock) => (
          <Circle key={deadlock.steps.map(({ key, token }) => `${key} ${token}`).join('\n')} deadlock={deadlock} />
        ))}
      </ol>
      <p class="soft">{t('deadlockText')}</p>
    </section>
  );
}

/** Shows which process waits for which other one, over all keys. */
export function Waits() {
  const now = snapshot.value;
  if (!now?.totals || now.totals.contested === 0) return null;
  const open = query.value.graph || now.deadlocks.length > 0;
  return (
    <section class="waits-for" aria-label={t('graph')}>
      <button type="button" class="plain" aria-expanded={open} onClick={() => show({ graph: !open })}>
        {open ? '▾' : '▸'} <strong>{t('graph')}</strong>
      </button>
      {open && now.graph && now.graph.nodes.length > 0 && (
        <>
          <Drawing graph={now.graph} />
          <p class="remark soft">
            {t('graphText')} {now.graph.more > 0 && t('notListed', { n: number(now.graph.more) })}
          </p>
        </>
      )}
    </section>
  );
}
